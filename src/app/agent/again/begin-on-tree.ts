import { lookAtTree } from "../../../rooms/catalytic/index.ts";
import {
  type AgentRecord,
  type PlannedFile,
  planLanding,
  planWrites,
  type ViewWrite,
} from "../../../rooms/workflow/index.ts";
import type { MadeCandidate } from "../capture/candidate.ts";
import type { AgentPorts } from "../ports.ts";
import { findLastCandidate } from "../prepare/begin-again.ts";
import type { Prepared } from "../prepare/prepare.ts";
import { rememberBase } from "../prepare/prepare-base.ts";

/** What an agent finds: the base of its run with its newest change, that base alone, or the tree as it is now with the change. */
export type From = "candidate" | "base" | "tree";

/** The tree as it is now is the base of what comes: the newest change is merged into it as a landing would. */
export async function beginOnTree(
  outside: AgentPorts,
  record: AgentRecord,
  keep: readonly string[],
): Promise<Prepared> {
  outside.progress.report({ label: "looking at the tree", done: 0 });
  const { run } = record;
  const { git, look } = rememberBase(run.ports.git, () => lookAtTree(outside.catalytic(), outside.places()));
  try {
    const { commit } = await git.head();
    const base = { commit, tree: await git.writeWorkingTree(run.objects(), true) };
    const made = findLastCandidate(record);
    const merged = made === null ? [] : await mergeIntoTree(outside, record, made, true);
    const began = { from: "tree" as const, candidate: made?.candidate.c ?? null, base, frozen: [] };
    const begins = { began, writes: planWrites([], merged.flatMap(toWrite)) };
    return { ports: run.ports, run, look: look(), keep, begins };
  } catch (thrown) {
    look()?.close();
    throw thrown;
  }
}

/** The files in which an agent would find both versions. */
export async function listConflicts(outside: AgentPorts, record: AgentRecord): Promise<string[]> {
  const made = findLastCandidate(record);
  const merged = made === null ? [] : await mergeIntoTree(outside, record, made, false);
  return merged.filter(({ marked }) => marked !== undefined).map(({ path }) => path);
}

async function mergeIntoTree(
  outside: AgentPorts,
  { run }: AgentRecord,
  { candidate }: MadeCandidate,
  isKept: boolean,
): Promise<readonly PlannedFile[]> {
  const { landing, crypto } = run.ports;
  const store = await outside.content(isKept ? "append" : "read");
  // Whoever only asks leaves nothing behind.
  const content = isKept
    ? store
    : { get: store.get.bind(store), put: async (bytes: Uint8Array) => crypto.sha256(bytes) };
  const base = { tree: candidate.base.tree, objects: run.objects() };
  return (await planLanding({ ...landing, content, crypto }, base, candidate.files)).files;
}

/** What cannot be merged by lines stays as it is now. */
function toWrite({ path, how, post, marked }: PlannedFile): ViewWrite[] {
  if (how === "already") return [];
  if (how === "conflict") {
    return marked === undefined || marked.mode === "120000" ? [] : [{ path, mode: marked.mode, sha256: marked.sha256 }];
  }
  if (post === null) return [{ path, mode: null }];
  return [
    post.mode === "120000"
      ? { path, mode: post.mode, target: post.target ?? "" }
      : { path, mode: post.mode, sha256: post.sha256 },
  ];
}
