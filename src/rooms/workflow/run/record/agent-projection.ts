import { z } from "zod";
import { isJsonObject, type JsonValue, parseJson } from "../../../../core/canonical/index.ts";
import type { EntryRecord, NewEntry } from "../../../../core/ports.ts";
import { AT_WORK } from "../../contracts/agent-run.ts";
import type { AgentRunRow, AgentRunsWriter, RunStore } from "../../ports.ts";

/** Rows made by other rules are made again from the ledger. Raise it with every change of what an entry does to a row. */
const PROJECTION_RULES = 3;

const STREAM = "workflow/";
const PAGE = 500;

/** The stream of a run in the ledger. */
export function streamOf(runId: string): string {
  return `${STREAM}${runId}`;
}

/** Appends to the stream of a run; the table of agent runs follows in the same transaction. */
export async function appendToRun(store: RunStore, runId: string, entries: readonly NewEntry[]): Promise<void> {
  await store.transact(async ({ ledger, agents }) => {
    const appended = await ledger.append(streamOf(runId), "next", entries);
    if (!appended.some(isAboutAgents)) return;
    const row = await agents.find(runId);
    const now = appended.reduce((was, entry) => evolve(was, runId, entry), row);
    if (now !== null && now !== row) await agents.put(now);
  });
}

/** Makes the table again from the ledger where nobody has, or where it was made by other rules. */
export async function catchUp(store: RunStore): Promise<void> {
  if ((await store.read(({ agents }) => agents.rules())) === PROJECTION_RULES) return;
  await store.transact(async ({ ledger, agents }) => {
    await agents.begin(PROJECTION_RULES);
    for (const { stream } of await ledger.streams()) {
      if (!stream.startsWith(STREAM)) continue;
      await rebuildRun(agents, stream.slice(STREAM.length), (from) => ledger.readStream(stream, from, PAGE));
    }
  });
}

async function rebuildRun(
  agents: AgentRunsWriter,
  runId: string,
  read: (from: number) => Promise<EntryRecord[]>,
): Promise<void> {
  let row: AgentRunRow | null = null;
  for (let from = 0; ; from += PAGE) {
    const page = await read(from);
    for (const entry of page) row = evolve(row, runId, entry);
    if (page.length < PAGE) break;
  }
  if (row !== null) await agents.put(row);
}

const amount = z.int().min(0);
const size = z.looseObject({ files: amount, added: amount, deleted: amount });

/** What a list wants of an entry; the schemas of the records hold them to more. */
const moved = z.looseObject({
  state: z.string().min(1),
  reason: z.string().nullable(),
  candidate: z.unknown().optional(),
  usd_micro: amount.nullable().optional(),
});

const started = z.looseObject({
  goal: z.string(),
  argv: z.array(z.string()).min(1),
  created_at: z.string(),
  run_dir: z.string(),
  repo: z.looseObject({ id: z.string().nullable(), root: z.string(), common_dir: z.string().nullable() }),
});

function isAboutAgents({ kind }: Pick<EntryRecord, "kind">): boolean {
  return kind.startsWith("AGENT_") || kind === "WORKFLOW_EVENT";
}

/** What an entry does to the row of its run. Entries about anything else leave it as it is. */
function evolve(row: AgentRunRow | null, runId: string, entry: EntryRecord): AgentRunRow | null {
  if (!isAboutAgents(entry)) return row;
  const body = parseJson(entry.body);
  if (entry.kind === "WORKFLOW_EVENT") return row === null ? null : evolveByEvent(row, body, entry.time);
  const begun = entry.kind === "AGENT_STARTED" ? start(runId, body) : row;
  const said = moved.safeParse(body);
  if (begun === null || !said.success) return row;
  const { state, reason, candidate, usd_micro = begun.usd_micro } = said.data;
  // What landed may be a part of what was captured, or a merge of it.
  const sized = entry.kind === "AGENT_CAPTURED" ? candidate : entry.kind === "AGENT_LANDED" ? body : null;
  const change = size.safeParse(sized);
  const sizes = change.success
    ? { files: change.data.files, added_lines: change.data.added, deleted_lines: change.data.deleted }
    : {};
  const hasEnded = begun.ended_at === null && !(AT_WORK as readonly string[]).includes(state);
  return {
    ...begun,
    ...sizes,
    usd_micro,
    state,
    reason: reason === null ? null : toStorable(reason),
    updated_at: entry.time,
    ended_at: hasEnded ? entry.time : begun.ended_at,
  };
}

function start(run_id: string, body: JsonValue): AgentRunRow | null {
  const said = started.safeParse(body);
  if (!said.success) return null;
  const { goal, argv, created_at, run_dir, repo } = said.data;
  return {
    run_id,
    run_dir,
    repo_id: repo.id,
    root: repo.root,
    common_dir: repo.common_dir,
    goal: toStorable(goal),
    agent: toStorable(nameOf(argv[0]!)),
    state: "preparing",
    reason: null,
    created_at,
    updated_at: created_at,
    ended_at: null,
    files: 0,
    added_lines: 0,
    deleted_lines: 0,
    usd_micro: null,
  };
}

/** The last name of a path: which program it was, wherever it lies. */
function nameOf(program: string): string {
  return program.slice(program.lastIndexOf("/") + 1);
}

/** PostgreSQL keeps no U+0000 in a text; the entry itself has the words as they were. */
function toStorable(text: string): string {
  return text.replaceAll("\0", "\ufffd");
}

/** What the verbs of the workflow room do to an agent run, by the words of its own log. */
function evolveByEvent(row: AgentRunRow, body: JsonValue, updated_at: string): AgentRunRow {
  const event = isJsonObject(body) ? body["event"] : null;
  if (event === "RUN_PASSED" && row.state !== "applied") return { ...row, state: "applied", reason: null, updated_at };
  if (event === "RUN_ROLLED_BACK" && row.state !== "undone") {
    return { ...row, state: "undone", reason: "applied, then undone", updated_at };
  }
  if (event === "RUN_ABORTED" && !ENDED.includes(row.state)) {
    return { ...row, state: "discarded", reason: "thrown away before it was applied", updated_at };
  }
  return row;
}

const ENDED: readonly string[] = ["applied", "undone", "discarded", "unchanged", "not_started"];
