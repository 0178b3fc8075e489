import { z } from "zod";
import { compareCodePoints } from "../../core/canonical/index.ts";
import { isVerbatimError } from "../../core/errors/index.ts";
import {
  AGENT_STATES,
  type AgentRunRow,
  AT_WORK,
  catchUp,
  Run,
  type WorkflowPorts,
} from "../../rooms/workflow/index.ts";
import type { AgentSummary } from "./agent-summary.ts";
import type { AgentPorts } from "./ports.ts";
import { readSummary } from "./read-summary.ts";

/** A run as a list shows it. */
export const listedRun = z.strictObject({
  run_id: z.string(),
  goal: z.string(),
  outcome: z.enum(AGENT_STATES).describe("Where the run stands, in one word."),
  reason: z.string().nullable().describe("Why the run stands there, in words; null where that goes without saying."),
  created_at: z.string(),
  files: z.int().describe("Files of the change."),
  added_lines: z.int(),
  deleted_lines: z.int(),
  run_dir: z.string(),
  root: z.string().describe("The work tree the run belongs to."),
});

export type ListedRun = z.infer<typeof listedRun>;

export const agentList = z.strictObject({
  runs: z.array(listedRun),
  total: z.int().describe("How many there are without the limit."),
});

interface ListRequest {
  readonly limit: number;
  readonly outcome: ListedRun["outcome"] | null;
  readonly all: boolean;
}

/**
 * The agent runs of this repository, newest first, from the table that the ledger feeds: what it costs does not depend on
 * what is in their folders. With `all` also those of the other work trees.
 */
export async function listAgentRuns(outside: AgentPorts, request: ListRequest): Promise<z.infer<typeof agentList>> {
  const own = await listOwnRuns(outside);
  const others = request.all ? await readSiblings(outside) : [];
  const runs = [...own, ...others]
    .filter(({ outcome }) => request.outcome === null || outcome === request.outcome)
    .sort(byAge);
  return { runs: runs.slice(0, request.limit), total: runs.length };
}

function byAge(a: ListedRun, b: ListedRun): number {
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
  const { run_id, goal, reason, created_at, files, added_lines, deleted_lines, run_dir } = row;
  const outcome = listedRun.shape.outcome.parse(row.state);
  const facts = { run_id, goal, created_at, files, added_lines, deleted_lines, run_dir, root: ports.repoRoot };
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
  const { run_id, goal, outcome, reason, created_at, run_dir } = summary;
  const { added_lines, deleted_lines } = changes;
  const files = changes.files.length;
  return { run_id, goal, outcome, reason, created_at, files, added_lines, deleted_lines, run_dir, root };
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
