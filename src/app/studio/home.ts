import { z } from "zod";
import { compareCodePoints } from "../../core/canonical/index.ts";
import { findBegin } from "../../core/ledger/index.ts";
import type { AGENT_STATES } from "../../rooms/workflow/index.ts";
import { agentList } from "../agent/runs/list.ts";
import type { StudioPorts } from "./ports.ts";

const MOST_NEEDED = 7;
const MOST_WORLDS = 7;
const DAYS = 30;
const DAY_MS = 86_400_000;

type State = (typeof AGENT_STATES)[number];
/** Ready, and nobody has decided. */
const READY: readonly State[] = ["verified", "unverified"];
/** Ended in a way that somebody should look at. */
const REFUSED: readonly State[] = [
  "rejected",
  "verify_failed",
  "agent_failed",
  "timed_out",
  "over_limit",
  "interrupted",
];

const NEXT = {
  NO_REPOSITORY:
    "This folder is not in a git repository, and agents work on one. Run git init in it, or start the server in one.",
  NO_VERIFY_COMMAND:
    "The configuration names no verify command: a change is checked only where a run is given one of its own.",
  NO_RUNS: "No agent has run in this repository.",
  LEDGER_UNVERIFIED: "The ledger has not been verified since the server was started.",
} as const;

export const home = z.strictObject({
  needs_you: z.strictObject({
    total: z.int(),
    runs: agentList.shape.runs.describe("Ready to land first, then refused, each oldest first; at most 7."),
  }),
  runs: z.int().describe("How many runs there are."),
  at_work: agentList.shape.working,
  worlds: z.array(
    z.strictObject({
      world_id: z.string(),
      title: z.string(),
      world_time: z.string(),
      entries: z.int(),
      last_line: z
        .strictObject({ author: z.string().nullable(), text: z.string(), at: z.string() })
        .nullable()
        .describe("The beginning of the newest line, as the operator sees it, and when something last happened."),
    }),
  ),
  health: z.strictObject({
    ledger: z.strictObject({
      entries: z.int(),
      days: z
        .array(z.int())
        .length(DAYS)
        .describe("How many entries were written on each of the last 30 days, in UTC; the last one is today."),
      verified: z
        .strictObject({ at: z.string(), ok: z.boolean(), entries: z.int(), problems: z.int() })
        .nullable()
        .describe("The last ledger.verify of this server; null: there was none."),
    }),
    doctor: z.strictObject({
      checked_at: z.string().nullable().describe("The last hall.doctor of this server; null: there was none."),
      lines: z
        .array(
          z.strictObject({
            name: z.string(),
            status: z.enum(["warn", "fail"]),
            message: z.string(),
            fix: z.string().nullable(),
          }),
        )
        .describe("Only what is not ok."),
    }),
  }),
  next: z
    .strictObject({
      code: z.enum(Object.keys(NEXT) as [keyof typeof NEXT]),
      says: z.string(),
      found: z.string().nullable().describe("What the repository has that would help."),
      write: z.string().nullable().describe("Lines for verbatim.config.json that do it."),
    })
    .nullable()
    .describe("The one thing to do next; null: nothing is missing."),
});

type Home = z.infer<typeof home>;

/** Everything the first screen shows. */
export async function readHome(ports: StudioPorts): Promise<Home> {
  const { total, working } = await ports.runs({ limit: 1 });
  const needed = await ports.oldestRuns([READY, REFUSED], MOST_NEEDED);
  const entries = await ports.ledgerSize();
  const verified = ports.verified();
  const diagnosed = ports.diagnosed();
  return {
    needs_you: {
      total: needed.reduce((sum, group) => sum + group.total, 0),
      runs: needed.flatMap((group) => group.runs).slice(0, MOST_NEEDED),
    },
    runs: total,
    at_work: working,
    worlds: await readWorlds(ports),
    health: {
      ledger: {
        entries,
        days: await readDays(ports, entries),
        verified:
          verified === null
            ? null
            : {
                at: verified.at,
                ok: verified.found.ok,
                entries: verified.found.entries,
                problems: verified.found.problems.length,
              },
      },
      doctor: {
        checked_at: diagnosed?.at ?? null,
        lines: (diagnosed?.found.checks ?? []).flatMap(({ status, ...line }) =>
          status === "ok" ? [] : [{ ...line, status }],
        ),
      },
    },
    next: suggest(ports, total, entries > 0 && verified === null),
  };
}

/** Entries a day. The ledger is in the order of time, so that the beginning of each day is looked for, not counted. */
async function readDays(ports: StudioPorts, entries: number): Promise<number[]> {
  const today = Math.floor(ports.now() / DAY_MS);
  const begins = await ports.withTimes(async (timeOf) => {
    const found: number[] = [];
    for (let day = today - DAYS + 1; day <= today; day++) {
      found.push(await findBegin(timeOf, day * DAY_MS, found.at(-1) ?? 0, entries));
    }
    return found;
  });
  return begins.map((begin, n) => (begins[n + 1] ?? entries) - begin);
}

async function readWorlds(ports: StudioPorts): Promise<Home["worlds"]> {
  const worlds = await ports.worlds();
  const shown = await Promise.all(
    worlds.map(async ({ world_id, title, world_time, entries }) => {
      return {
        world_id,
        title,
        world_time: world_time ?? "",
        entries: entries ?? 0,
        last_line: await ports.lastLine(world_id),
      };
    }),
  );
  return shown.sort((a, b) => compareCodePoints(b.last_line?.at ?? "", a.last_line?.at ?? "")).slice(0, MOST_WORLDS);
}

function suggest(ports: StudioPorts, runs: number, isUnverified: boolean): Home["next"] {
  const { hasGit, verify, found } = ports.readiness();
  const say = (code: keyof typeof NEXT, helps: string | null = null) => {
    const write = helps === null ? null : JSON.stringify({ agent: { verify: { commands: [helps] } } }, null, 2);
    return { code, says: NEXT[code], found: helps, write };
  };
  if (!hasGit) return say("NO_REPOSITORY");
  if (verify === 0) return say("NO_VERIFY_COMMAND", found);
  if (runs === 0) return say("NO_RUNS");
  return isUnverified ? say("LEDGER_UNVERIFIED") : null;
}
