import { z } from "zod";
import { compareCodePoints } from "../../../core/canonical/index.ts";
import { isVerbatimError } from "../../../core/errors/index.ts";
import { parseTime } from "../../../core/time.ts";
import {
  AGENT_STATES,
  AgentRecord,
  type AgentRunRow,
  type AgentRunsWanted,
  AT_WORK,
  catchUp,
  Run,
  toDollars,
  type WorkflowPorts,
} from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";
import { readRaces } from "../race/races.ts";
import type { AgentSummary } from "../report/agent-summary.ts";
import { readSummary } from "../report/read-summary.ts";
import { readProcess } from "../work/agent-process.ts";
import { readLastLine } from "../work/live.ts";

/** A run as a list shows it. */
const listedRun = z.strictObject({
  run_id: z.string(),
  goal: z.string(),
  agent: z.string().describe("The program that was started, by its own name."),
  outcome: z.enum(AGENT_STATES).describe("Where the run stands, in one word."),
  reason: z.string().nullable().describe("Why the run stands there, in words; null where that goes without saying."),
  created_at: z.string(),
  duration_ms: z.int().nullable().describe("How long it worked until its end; null: it has not come to one."),
  files: z.int().describe("Files of the change."),
  added_lines: z.int(),
  deleted_lines: z.int(),
  cost: z.number().nullable().describe("What it has cost so far in USD; null: nobody can tell."),
  run_dir: z.string(),
  root: z.string().describe("The work tree the run belongs to."),
  race: z.string().nullable().describe("The race that it took part in; null: none."),
});

export type ListedRun = z.infer<typeof listedRun>;

/** A run that somebody is at work on. */
const workingRun = listedRun.extend({
  since: z.string().describe("Since when it stands there."),
  pid: z.int().nullable().describe("The process of ours that works on it."),
  last_line: z.string().describe("The last line the agent printed, without control characters, at most 120 of them."),
});

export const agentList = z.strictObject({
  runs: z.array(listedRun),
  total: z.int().describe("How many there are without the limit."),
  next: z.string().nullable().describe("Where the next page begins, for after; null: this was the last one."),
  working: z.array(workingRun).describe("Runs at work, newest first, whatever was asked for."),
});

interface ListRequest {
  readonly limit: number;
  readonly outcome?: ListedRun["outcome"] | undefined;
  /** A text in the goal, or the beginning of an id. */
  readonly q?: string | undefined;
  readonly since?: string | undefined;
  /** The id of a race. */
  readonly race?: string | undefined;
  readonly after?: string | undefined;
  readonly all: boolean;
}

/**
 * The agent runs of this repository, newest first, from the table that the ledger feeds: what it costs depends neither on
 * what is in their folders nor, but for the counting, on how many there are. With `all` also those of the other work trees.
 */
export async function listAgentRuns(outside: AgentPorts, request: ListRequest): Promise<z.infer<typeof agentList>> {
  const own = await readOwn(outside);
  const others = request.all ? await readSiblings(outside) : [];
  const beside = withRaces(outside, [...own.beside, ...others]).filter((run) => isWanted(run, request));
  const after = request.after === undefined ? undefined : fromCursor(request.after);
  const settled = await own.settled(request, after);
  const isBehind = (run: ListedRun) => after === undefined || byAge(after, run) < 0;
  const rest = [...settled.runs, ...beside.filter(isBehind)].sort(byAge);
  const page = withRaces(outside, rest.slice(0, request.limit));
  const last = page.at(-1);
  return {
    runs: page,
    total: settled.total + beside.length,
    next: last === undefined || rest.length === page.length ? null : toCursor(last),
    working: await readWorking(outside, withRaces(outside, own.beside.sort(byAge))),
  };
}

/** The table has no word of races: their records lie beside the folders of their members. */
function withRaces(outside: AgentPorts, runs: readonly ListedRun[]): ListedRun[] {
  const dirs = runs.flatMap(({ race, run_dir }) => (race === null ? [run_dir] : []));
  const races = dirs.length === 0 ? null : readRaces(outside, dirs);
  return runs.map((run) => ({ ...run, race: run.race ?? races?.get(run.run_id)?.race_id ?? null }));
}

/** For each group of places the oldest runs that stand in one of them, and how many do. */
export async function listOldest(
  outside: AgentPorts,
  groups: readonly (readonly ListedRun["outcome"][])[],
  limit: number,
): Promise<Page[]> {
  const own = await readOwn(outside);
  const pages = groups.map(async (outcomes) => {
    const beside = own.beside.filter(({ outcome }) => outcomes.includes(outcome));
    const settled = await own.oldest(
      SETTLED.filter((state) => outcomes.includes(state)),
      limit,
    );
    const runs = [...settled.runs, ...beside].sort((a, b) => byAge(b, a)).slice(0, limit);
    return { runs, total: settled.total + beside.length };
  });
  return await Promise.all(pages);
}

/** Whatever is recorded so stands so: nobody is at work on it. */
const SETTLED: readonly ListedRun["outcome"][] = AGENT_STATES.filter((state) => !AT_WORK.includes(state));

interface Page {
  readonly runs: ListedRun[];
  readonly total: number;
}

/** The runs of this work tree: those that only their folders tell about, and a way to the others. */
interface OwnRuns {
  readonly beside: ListedRun[];
  /** One more than the limit, so that it is known whether there is a next page. */
  settled(request: ListRequest, after?: Aged): Promise<Page>;
  oldest(states: readonly string[], limit: number): Promise<Page>;
}

async function readOwn(outside: AgentPorts): Promise<OwnRuns> {
  const ports = await outside.workflow("read");
  const repoId = ports.identity.current()?.repo_id;
  if (repoId === undefined) {
    const none = async () => ({ runs: [], total: 0 });
    return { beside: readUnrecorded(outside, ports, new Set()), settled: none, oldest: none };
  }
  await catchUp(ports.store);
  const all = await ports.store.read(({ agents }) => agents.standing(repoId));
  const roots = [...new Set(all.map(({ root }) => root))].filter((root) => isOwn(ports, repoId, root));
  const groups = all.filter(({ root }) => roots.includes(root));
  const most = groups.reduce((sum, { n }) => sum + n, 0);
  const ofAll = groups.length === all.length ? null : roots;
  const known = new Set(await ports.store.read(({ agents }) => agents.idsOf(repoId, ofAll)));
  const own = { repoId, roots };
  const read = (wanted: AgentRunsWanted, ...how: [order: "newest" | "oldest", limit: number, after?: Aged]) =>
    ports.store.read(({ agents }) => agents.page(wanted, ...how));
  const count = async (wanted: AgentRunsWanted) => {
    if (wanted.since !== undefined) return await ports.store.read(({ agents }) => agents.count(wanted));
    const isMeant = (state: string) => wanted.states.includes(state) !== (wanted.others ?? false);
    return groups.reduce((sum, { state, n }) => (isMeant(state) ? sum + n : sum), 0);
  };
  const isBusy = groups.some(({ state }) => (AT_WORK as readonly string[]).includes(state));
  const busy = isBusy ? await read({ ...own, states: AT_WORK }, "newest", most) : [];
  // A run that came to its end after that look is listed once.
  const seen = new Set(busy.map(({ run_id }) => run_id));
  const list = (rows: readonly AgentRunRow[]) =>
    rows.flatMap((row) => (seen.has(row.run_id) ? [] : [toListed(outside, ports, row)]));
  return {
    beside: [...busy.map((row) => toListed(outside, ports, row)), ...readUnrecorded(outside, ports, known)],
    async settled({ outcome, since, race, ...request }, after) {
      const states = SETTLED.filter((state) => state === outcome);
      const wanted = { ...own, since, ...(outcome === undefined ? { states: AT_WORK, others: true } : { states }) };
      const limit = Math.min(request.limit, most) + 1;
      if (request.q === undefined && race === undefined)
        return { runs: list(await read(wanted, "newest", limit, after)), total: await count(wanted) };
      // Databases fold letters in ways of their own, so that words are looked for here.
      const all = (await read(wanted, "newest", most)).filter((row) => isNamed(row, request.q));
      const named = race === undefined ? all : inRace(outside, all, race);
      const behind = after === undefined ? named : named.filter((row) => byAge(after, row) < 0);
      return { runs: list(behind.slice(0, limit)), total: named.length };
    },
    async oldest(states, limit) {
      const wanted = { ...own, states };
      return { runs: list(await read(wanted, "oldest", limit)), total: await count(wanted) };
    },
  };
}

function inRace(outside: AgentPorts, rows: readonly AgentRunRow[], race: string): AgentRunRow[] {
  const dirs = rows.map(({ run_dir }) => run_dir);
  const races = readRaces(outside, dirs);
  return rows.filter(({ run_id }) => races.get(run_id)?.race_id === race);
}

function isWanted(run: ListedRun, { outcome, q, since, race }: ListRequest): boolean {
  return (
    isNamed(run, q) &&
    (outcome === undefined || run.outcome === outcome) &&
    (since === undefined || run.created_at >= since) &&
    (race === undefined || run.race === race)
  );
}

function isNamed({ run_id, goal }: Pick<ListedRun, "run_id" | "goal">, q: string | undefined): boolean {
  return q === undefined || run_id.startsWith(q) || goal.toLowerCase().includes(q.toLowerCase());
}

/** A place in the list that stays where it is when runs are added: time and id of the run before it. */
function toCursor({ created_at, run_id }: ListedRun): string {
  return `${created_at}~${run_id}`;
}

function fromCursor(cursor: string): Aged {
  const tilde = cursor.indexOf("~");
  return { created_at: cursor.slice(0, tilde), run_id: cursor.slice(tilde + 1) };
}

type Aged = Pick<ListedRun, "created_at" | "run_id">;

/** What is at work now, with what its own folder says of it. */
async function readWorking(outside: AgentPorts, own: readonly ListedRun[]): Promise<z.infer<typeof workingRun>[]> {
  const busy = own.filter(({ outcome }) => AT_WORK.includes(outcome));
  if (busy.length === 0) return [];
  const ports = await outside.workflow("read");
  return busy.flatMap((listed) => {
    const folder = ports.runs.open(listed.run_id);
    const record = folder === null ? null : AgentRecord.load(Run.load(ports, folder));
    if (record === null) return [];
    const { updated_at } = record.now;
    const pid = readProcess(record.run)?.pid ?? null;
    return [{ ...listed, since: updated_at, pid, last_line: readLastLine(outside, record) }];
  });
}

function byAge(a: Aged, b: Aged): number {
  return compareCodePoints(b.created_at, a.created_at) || compareCodePoints(b.run_id, a.run_id);
}

/** The runs of this work tree, in no order. */
export async function listOwnRuns(outside: AgentPorts): Promise<ListedRun[]> {
  const ports = await outside.workflow("read");
  const rows = await readRows(ports);
  const known = new Set(rows.map(({ run_id }) => run_id));
  return [...rows.map((row) => toListed(outside, ports, row)), ...readUnrecorded(outside, ports, known)];
}

/** The rows of this repository; a copy of it, and a clone that began with its id, have runs of their own. */
async function readRows(ports: WorkflowPorts): Promise<AgentRunRow[]> {
  const id = ports.identity.current()?.repo_id;
  if (id === undefined) return [];
  await catchUp(ports.store);
  const rows = await ports.store.read(({ agents }) => agents.ofRepository(id));
  const isHere = new Map([...new Set(rows.map(({ root }) => root))].map((root) => [root, isOwn(ports, id, root)]));
  return rows.filter(({ root }) => isHere.get(root) === true);
}

function isOwn({ runs }: WorkflowPorts, repo_id: string, repo_root: string): boolean {
  return runs.isOwn({ repo_id, repo_root });
}

function toListed(outside: AgentPorts, ports: WorkflowPorts, row: AgentRunRow): ListedRun {
  const { run_id, goal, agent, reason, created_at, ended_at, files, added_lines, deleted_lines, usd_micro, run_dir } =
    row;
  const outcome = listedRun.shape.outcome.parse(row.state);
  const duration_ms = ended_at === null ? null : Math.max(0, parseTime(ended_at) - parseTime(created_at));
  const size = { files, added_lines, deleted_lines, cost: usd_micro === null ? null : toDollars(usd_micro) };
  const facts = { run_id, goal, agent, created_at, duration_ms, ...size, run_dir, root: ports.repoRoot, race: null };
  // Of a run that is at work only its own folder says whether somebody really is.
  const folder = AT_WORK.includes(outcome) ? ports.runs.open(run_id) : null;
  const summary = folder === null ? null : readSummary(outside, Run.load(ports, folder));
  return { ...facts, outcome: summary?.outcome ?? outcome, reason: summary === null ? reason : summary.reason };
}

/** Runs that the ledger of this store has no word of: made by an earlier version, or with another database. */
function readUnrecorded(outside: AgentPorts, ports: WorkflowPorts, known: ReadonlySet<string>): ListedRun[] {
  return ports.runs.ids(known).flatMap((id) => {
    const summary = readSummary(outside, Run.load(ports, ports.runs.open(id)!));
    return summary === null ? [] : [fromSummary(summary, ports.repoRoot)];
  });
}

function fromSummary({ changes, ...summary }: AgentSummary, root: string): ListedRun {
  const { run_id, goal, outcome, reason, created_at, duration_ms, run_dir } = summary;
  const [program = ""] = summary.agent.argv;
  const agent = program.slice(program.lastIndexOf("/") + 1);
  const { added_lines, deleted_lines } = changes;
  const files = changes.files.length;
  const size = { files, added_lines, deleted_lines, cost: summary.usage?.usd ?? null };
  return { run_id, goal, agent, outcome, reason, created_at, duration_ms, ...size, run_dir, root, race: null };
}

/** A work tree whose store cannot be read is named; the others are listed all the same. */
async function readSiblings(outside: AgentPorts): Promise<ListedRun[]> {
  const found: ListedRun[] = [];
  for (const { root, call } of outside.siblings()) {
    try {
      const { runs } = agentList.parse(await call("agent.list", { limit: Number.MAX_SAFE_INTEGER }));
      found.push(...runs);
    } catch (thrown) {
      if (!isVerbatimError(thrown)) throw thrown;
      outside.notify(`the runs of ${root} cannot be listed: ${thrown.code}: ${thrown.message}`);
    }
  }
  return found;
}
