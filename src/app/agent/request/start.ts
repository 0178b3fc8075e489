import { z } from "zod";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { AgentPorts } from "../ports.ts";
import { waitForRuns } from "../runs/wait.ts";
import { fillCommand, type KnownCommand, requireAllowed } from "./commands.ts";

export const started = z.strictObject({
  run_id: z.string().describe("The run, or the first of a race."),
  run_ids: z.array(z.string()),
  race_id: z.string().nullable(),
});

const NETWORKS = ["inherit", "allow", "none"] as const;

/** What a page asks for: a command by its name, or its words where somebody may type them. */
export interface StartRequest {
  readonly command?: string | undefined;
  readonly argv?: readonly string[] | undefined;
  readonly goal: string;
  readonly verify: readonly string[];
  readonly no_verify: boolean;
  readonly files: readonly string[];
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly guard?: string | undefined;
  readonly network?: (typeof NETWORKS)[number] | undefined;
  readonly timeout_s?: number | undefined;
  readonly count: number;
}

/**
 * Starts agents in a process of their own, and answers once the first has started. A caller who may not type commands gets
 * a command that was allowed, as it was allowed; what that caller adds can only make it stricter.
 */
export async function startAgent(outside: AgentPorts, asked: StartRequest): Promise<z.infer<typeof started>> {
  if (outside.starting() === "off") throw new VerbatimError("START_OFF");
  const isTyped = outside.starting() === "typed";
  if ((asked.command === undefined) === (asked.argv === undefined)) {
    throw new VerbatimError("USAGE", { message: "give either the name of a command or its words", where: "/command" });
  }
  const known = asked.command === undefined ? null : await requireAllowed(outside, asked.command);
  if (!isTyped) refuseWider(asked, known, outside.configNow().agent.network);
  const command = known === null ? [...asked.argv!] : fillCommand(known.argv, { goal: asked.goal, feedback: "" });
  const verify = asked.verify.length > 0 ? [...asked.verify] : (known?.verify ?? []);
  const timeout = asked.timeout_s ?? known?.timeout_s ?? null;
  const network = asked.network ?? known?.network ?? null;
  const input = {
    goal: asked.goal,
    command,
    ...(asked.no_verify ? { no_verify: true } : { verify }),
    files: [...asked.files],
    allow: [...asked.allow],
    deny: [...asked.deny],
    keep: known?.keep ?? [],
    // A list of hosts means nothing where the network was taken away or left open.
    host: network === "allow" ? (known?.hosts ?? []) : [],
    ...(known?.profile == null ? {} : { profile: known.profile }),
    ...(asked.guard === undefined ? {} : { guard: asked.guard }),
    ...(network === null ? {} : { network }),
    ...(timeout === null ? {} : { timeout: `${timeout}s` }),
  };
  const note = (text: string) => outside.notify(text);
  const parallel = outside.configNow().agent.parallel;
  const { run_id, race } =
    asked.count === 1
      ? // Nothing is applied behind a page, whatever the configuration says.
        await outside.control.startDetached("agent.run", { ...input, apply: "never" }, note)
      : await outside.control.startDetached(
          "agent.race",
          { ...input, count: asked.count, jobs: Math.min(asked.count, parallel) },
          note,
        );
  const run_ids = race === null ? [run_id] : [...race.run_ids];
  outside.hold((signal) => waitForRuns(outside, run_ids, { timeoutMs: null, any: false, signal }));
  return { run_id, run_ids, race_id: race?.race_id ?? null };
}

/** What only somebody may say who could type the command itself. */
function refuseWider(asked: StartRequest, known: KnownCommand | null, network: (typeof NETWORKS)[number] | null): void {
  const given = known?.network ?? network ?? "inherit";
  const isLooser = asked.network !== undefined && NETWORKS.indexOf(asked.network) < NETWORKS.indexOf(given);
  const isLonger = asked.timeout_s !== undefined && known?.timeout_s != null && asked.timeout_s > known.timeout_s;
  const wider = [
    ["argv", asked.argv !== undefined],
    ["verify", asked.verify.length > 0],
    ["no_verify", asked.no_verify],
    ["guard", asked.guard !== undefined],
    ["network", isLooser],
    ["timeout_s", isLonger],
  ] as const;
  const found = wider.find(([, isWider]) => isWider);
  if (found === undefined) return;
  throw new VerbatimError("LOCAL_ONLY", {
    message: `agent.start takes "${found[0]}" only in a session that was opened by a link, on the machine of the repository`,
    where: `/${found[0]}`,
  });
}
