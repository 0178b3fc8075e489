import { z } from "zod";
import { compareCodePoints, formatCanonical } from "../../../core/canonical/index.ts";
import { NO_PROFILE } from "../../../core/contracts/config/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { toHex } from "../../../core/hex.ts";
import { formatTime } from "../../../core/time.ts";
import { AGENT_STATES, AgentRecord, appendToRace, Run } from "../../../rooms/workflow/index.ts";
import { runPrepared } from "../agent.ts";
import { LAND_ALL } from "../landing/landable.ts";
import type { AgentPorts } from "../ports.ts";
import { NOTHING_BEGAN, type Prepared, prepare } from "../prepare/prepare.ts";
import { toSummary } from "../report/report.ts";
import { describeBreak } from "../request/agent-arguments.ts";
import type { AgentRequest } from "../request/request.ts";
import { applyAgentRun, discardAgentRun } from "../runs/runs.ts";
import type { RunControl } from "../work/run-control.ts";
import { RaceTurns, Turns } from "./race-turns.ts";

export const PICKS = ["ask", "first", "smallest", "cheapest"] as const;

export interface RaceOptions {
  readonly jobs: number;
  readonly verifyJobs: number;
  readonly pick: (typeof PICKS)[number];
  readonly discardLosers: boolean;
}

const member = z.strictObject({
  rank: z.int(),
  run_id: z.string(),
  agent: z.string().describe("The program that was started, by its own name."),
  outcome: z.enum(AGENT_STATES),
  reason: z.string().nullable(),
  files: z.int(),
  added_lines: z.int(),
  deleted_lines: z.int(),
  cost: z.number().nullable().describe("In USD; null: nobody can tell."),
  duration_ms: z.int(),
});

export const race = z.strictObject({
  race_id: z.string(),
  goal: z.string(),
  base_tree: z.string(),
  members: z.array(member).describe("Best first: verified, then fewer changed lines, then cost, then time."),
  winner: z.string().nullable().describe("The member that was applied; null: none was."),
});

type Member = z.infer<typeof member>;

/** Lets several agents work on one goal from one base, and ranks what they did. Losers are ordinary runs. */
export async function runRace(
  outside: AgentPorts,
  requests: readonly AgentRequest[],
  options: RaceOptions,
): Promise<z.infer<typeof race>> {
  const inside = withoutTerminal(outside, new RaceTurns(options.verifyJobs));
  const members = await prepareAll(inside, requests);
  const [first] = members;
  const { goal } = first!.request;
  const base_tree = first!.prepared.run.state.base_tree;
  const id = toHex(outside.catalytic().random.bytes(4));
  const entrants = members.map(({ prepared, request }) => ({
    run_id: prepared.run.id,
    argv: [...request.command],
    profile: request.equipment.known?.profile.name ?? NO_PROFILE,
  }));
  const facts = { goal, base_tree, members: entrants, rule: options.pick };
  const write = (more: object) =>
    outside.writeRace(first!.prepared.run.folder.dir, id, toFile(id, { ...facts, ...more }));
  write({});
  await appendToRace(first!.prepared.run, id, "RACE_STARTED", facts);
  outside.background?.inRace({ race_id: id, run_ids: entrants.map(({ run_id }) => run_id) });
  const interrupted = await work(inside, members, options);
  const ranked = rank(members.map(({ prepared }) => prepared.run));
  const winner = interrupted ? null : await pick(outside, ranked, options);
  const decided = { winner, ranking: ranked.map(({ run_id, outcome }) => ({ run_id, outcome })) };
  write({ ...decided, decided_at: formatTime(outside.clock.now()) });
  await appendToRace(first!.prepared.run, id, "RACE_DECIDED", decided);
  if (interrupted) {
    throw new VerbatimError("INTERRUPTED", {
      message: `the race ${id} was interrupted; what its members had done is kept`,
      fix: { cli: "See: verbatim agent list", others: "List the runs." },
    });
  }
  const standing = rank(members.map(({ prepared }) => prepared.run));
  return { race_id: id, goal, base_tree, members: standing, winner };
}

interface Entrant {
  readonly request: AgentRequest;
  readonly prepared: Prepared;
}

/** Nobody types to one of several agents, and what they print stays apart. */
function withoutTerminal(outside: AgentPorts, turns: RaceTurns): AgentPorts {
  const said = new Set<string>();
  return {
    ...outside,
    terminal: null,
    race: turns,
    catalytic: () => ({ ...outside.catalytic(), onOutput: () => undefined }),
    notify(text) {
      if (said.has(text)) return;
      said.add(text);
      outside.notify(text);
    },
  };
}

/** All members before the first agent starts: what one of them needs and does not have keeps all of them from starting. */
async function prepareAll(outside: AgentPorts, requests: readonly AgentRequest[]): Promise<Entrant[]> {
  const entrants: Entrant[] = [];
  try {
    for (const request of requests) {
      const shared = entrants[0]?.prepared.ports.git ?? null;
      entrants.push({ request, prepared: await prepare(outside, request, shared) });
    }
    requireOneBase(entrants);
    return entrants;
  } catch (thrown) {
    const { reason } = describeBreak(thrown, false);
    for (const { prepared } of entrants) {
      prepared.look?.close();
      await giveUp(prepared.run, `another member of the race could not start: ${reason}`);
    }
    throw thrown;
  }
}

function requireOneBase(entrants: readonly Entrant[]): void {
  const trees = new Set(entrants.map(({ prepared }) => prepared.run.state.base_tree));
  if (trees.size === 1) return;
  throw new VerbatimError("REPO_MOVED", {
    message: "the tree changed while the race was made ready, so its members would not have begun with the same files",
    fix: "Start the race again.",
  });
}

async function giveUp(run: Run, reason: string): Promise<void> {
  const record = AgentRecord.load(Run.load(run.ports, run.folder));
  if (record?.now.state === "preparing")
    await record.enter("AGENT_ATTEMPT_ENDED", NOTHING_BEGAN, "not_started", reason);
}

/** Says whether somebody ended the whole race. */
async function work(outside: AgentPorts, members: readonly Entrant[], options: RaceOptions): Promise<boolean> {
  const turns = new Turns(options.jobs);
  const controls = new Set<RunControl>();
  let over: string | null = null;
  let isInterrupted = false;
  const stopListening = outside.interrupts.listen(() => {
    isInterrupted = true;
    over ??= "the race was interrupted";
  });
  const isBaseStill = await watchBase(outside, members);
  const runOne = async ({ request, prepared }: Entrant, at: number): Promise<void> => {
    // Those that start at once begin with what was looked at; a later one only if nothing has changed since.
    const moved = over === null && at >= options.jobs && !(await isBaseStill());
    const reason = over ?? (moved ? "the tree has changed since the race began" : null);
    if (reason !== null) {
      prepared.look?.close();
      return await giveUp(prepared.run, reason);
    }
    let own: RunControl | null = null;
    const onControl = (control: RunControl) => {
      own = control;
      controls.add(control);
    };
    try {
      const { outcome } = await runPrepared(outside, request, prepared, onControl);
      if (options.pick !== "first" || over !== null || outcome !== "verified") return;
      over = "another member of the race was first";
      for (const other of controls) if (other !== own) other.onSignal("STOP");
    } finally {
      if (own !== null) controls.delete(own);
    }
  };
  try {
    const ends = await Promise.allSettled(members.map((one, at) => turns.run(() => runOne(one, at))));
    // A member that was ended, or whose agent could not be started, says so in its record; anything else is ours.
    const broken = ends.flatMap((end) => (end.status === "rejected" ? [end.reason as unknown] : []));
    for (const thrown of broken) {
      if (describeBreak(thrown, false).outcome === "interrupted") continue;
      outside.notify(`a member of the race broke off: ${describeBreak(thrown, false).reason}`);
    }
    return isInterrupted;
  } finally {
    stopListening();
  }
}

/** Whether the tree still is what the members began with. */
async function watchBase(outside: AgentPorts, [first]: readonly Entrant[]): Promise<() => Promise<boolean>> {
  const { git } = await outside.workflow("read");
  const before = await git.fingerprint(true);
  const { base_commit } = first!.prepared.run.state;
  return async () => (await git.head()).commit === base_commit && (await git.fingerprint(true)) === before;
}

const GOOD: readonly Member["outcome"][] = ["applied", "verified", "unverified"];

function rank(runs: readonly Run[]): Member[] {
  const members = runs.map((run) => {
    const { run_id, agent, outcome, reason, changes, duration_ms, usage } = toSummary(AgentRecord.load(run)!);
    const [program = ""] = agent.argv;
    const { added_lines, deleted_lines, files } = changes;
    const size = { files: files.length, added_lines, deleted_lines };
    const name = program.slice(program.lastIndexOf("/") + 1);
    return { run_id, agent: name, outcome, reason, ...size, cost: usage?.usd ?? null, duration_ms };
  });
  const place = ({ outcome }: (typeof members)[number]) =>
    GOOD.includes(outcome) ? GOOD.indexOf(outcome) : GOOD.length;
  const lines = (one: (typeof members)[number]) => one.added_lines + one.deleted_lines;
  const sorted = members.sort(
    (a, b) =>
      place(a) - place(b) ||
      lines(a) - lines(b) ||
      byCost(a, b) ||
      a.duration_ms - b.duration_ms ||
      compareCodePoints(a.run_id, b.run_id),
  );
  return sorted.map((one, at) => ({ rank: at + 1, ...one }));
}

/** What nobody can tell is not cheap. */
function byCost(a: Pick<Member, "cost">, b: Pick<Member, "cost">): number {
  const [first, second] = [a.cost ?? Number.MAX_VALUE, b.cost ?? Number.MAX_VALUE];
  return first === second ? 0 : first < second ? -1 : 1;
}

/** The member that the rule means; null: none, or nobody can tell. */
function choose(outside: AgentPorts, ranked: readonly Member[], rule: RaceOptions["pick"]): Member | null {
  const good = ranked.filter(({ outcome }) => outcome === "verified");
  if (rule === "ask") return null;
  if (rule !== "cheapest") return good[0] ?? null;
  const [cheapest] = [...good].sort(byCost);
  if (cheapest === undefined || good.every(({ cost }) => cost !== null)) return cheapest ?? null;
  outside.notify("nothing is applied by itself: what some of the verified members cost is not known");
  return null;
}

/** Applies the best member by the rule. What somebody should look at first is not applied behind anybody's back. */
async function pick(
  outside: AgentPorts,
  ranked: readonly Member[],
  { pick: rule, discardLosers }: RaceOptions,
): Promise<string | null> {
  const best = choose(outside, ranked, rule);
  if (best === null) return null;
  const ports = await outside.workflow("read");
  const record = AgentRecord.load(Run.load(ports, ports.runs.open(best.run_id)!))!;
  const noticed = toSummary(record).changes.files.filter(({ notices }) => notices.length > 0);
  if (noticed.length > 0) {
    outside.notify(
      `${best.run_id} is not applied by itself: look at ${noticed.map(({ path }) => path).join(", ")} first`,
    );
    return null;
  }
  await applyAgentRun(outside, best.run_id, LAND_ALL);
  if (discardLosers) await discardOthers(outside, ranked, best.run_id);
  return best.run_id;
}

const OVER: readonly Member["outcome"][] = ["applied", "unchanged", "not_started", "discarded", "undone"];

async function discardOthers(outside: AgentPorts, ranked: readonly Member[], winner: string): Promise<void> {
  for (const { run_id, outcome } of ranked) {
    if (run_id !== winner && !OVER.includes(outcome)) await discardAgentRun(outside, run_id);
  }
}

function toFile(race_id: string, facts: object): Uint8Array {
  return new TextEncoder().encode(
    `${formatCanonical({ schema_version: "verbatim-agent-race-v1", race_id, ...facts })}\n`,
  );
}
