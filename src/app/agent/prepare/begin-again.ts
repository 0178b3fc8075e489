import { lstatSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { encodeUtf8 } from "../../../core/canonical/index.ts";
import type { ContentStore } from "../../../core/ports.ts";
import { lookAtTree, type TreeScan, type TreeWrite } from "../../../rooms/catalytic/index.ts";
import { type AgentAttempt, type AgentRecord, type PathThen, planWrites } from "../../../rooms/workflow/index.ts";
import { readGitFacts } from "../../compose/tree-notes.ts";
import { type MadeCandidate, readCandidate } from "../capture/candidate.ts";
import { toWrites } from "../judge/verify.ts";
import type { AgentPorts } from "../ports.ts";
import type { Masks } from "../request/masks.ts";
import type { AgentRequest } from "../request/request.ts";
import type { Prepared } from "./prepare.ts";

/** What a later attempt begins with: what its record says of that, and what is written into its view. */
export interface Begins {
  readonly began: NonNullable<AgentAttempt["began"]>;
  readonly writes: readonly TreeWrite[];
}

/**
 * The change that the newest attempt left, which the next one goes on from; null: it left none. What never ran left
 * nothing of its own, so the one before it counts.
 */
export function findLastCandidate(record: AgentRecord): MadeCandidate | null {
  const { attempts, candidates } = record.now;
  for (let n = attempts; n > 0; n--) {
    for (let c = candidates; c > 0; c--) {
      const made = readCandidate(record, c);
      if (made !== null && made.candidate.kind === "capture" && made.candidate.attempt === n) return made;
    }
    if (record.attempt(n)?.end != null) return null;
  }
  return null;
}

/** Looks at the tree once more, and says what has to be written so that an agent finds the base, or its change, again. */
export async function beginAgain(
  outside: AgentPorts,
  record: AgentRecord,
  request: AgentRequest,
  keep: readonly string[],
  from: "candidate" | "base",
): Promise<Prepared> {
  outside.progress.report({ label: "looking at the tree", done: 0 });
  const look = await lookAtTree(outside.catalytic(), outside.places());
  try {
    const { run, now } = record;
    const made = from === "candidate" ? findLastCandidate(record) : null;
    const { commit, tree } = made?.candidate.base ?? now.base;
    const base = { commit, tree };
    const freeze = await listFreeze(outside, record, request, look, tree, keep);
    const began = {
      from: made === null ? ("base" as const) : ("candidate" as const),
      candidate: made?.candidate.c ?? null,
      base,
      frozen: await describeFreeze(outside, freeze),
    };
    const writes = planWrites(freeze, made === null ? [] : toWrites(made.candidate));
    return { ports: run.ports, run, look, keep, begins: { began, writes } };
  } catch (thrown) {
    look?.close();
    throw thrown;
  }
}

/** Where the tree is not as the base any more, what the base has. Costs nothing where nothing changed since the last look. */
async function listFreeze(
  outside: AgentPorts,
  { run, now }: AgentRecord,
  request: AgentRequest,
  look: TreeScan | null,
  tree: string,
  keep: readonly string[],
): Promise<readonly TreeWrite[]> {
  if (readGitFacts(look)?.base_tree === tree) return [];
  let masks: Masks | null = null;
  const { unmask, all } = now.request.masks ?? { unmask: request.masks.unmask, all: request.masks.all };
  const isHidden = (path: string) => {
    masks ??= outside.masks({ unmask, all, profile: null, kept: keep, seen: [] }, look);
    return masks.isHidden(path);
  };
  const freeze = await outside.freeze({ tree, objects: run.objects() }, isHidden);
  return freeze.filter(({ path }) => !isHidden(path));
}

async function describeFreeze(
  outside: AgentPorts,
  freeze: readonly TreeWrite[],
): Promise<NonNullable<AgentAttempt["began"]>["frozen"]> {
  if (freeze.length === 0) return [];
  const { root } = outside.places();
  const { crypto } = outside.catalytic();
  const content = await outside.content("append");
  const all = [];
  for (const write of freeze) {
    all.push({ path: write.path, base: toThen(write, crypto.sha256), real: await readReal(root, write.path, content) });
  }
  return all;
}

function toThen(write: TreeWrite, sha256: (bytes: Uint8Array) => string): PathThen {
  if (write.mode === null) return null;
  const { mode } = write;
  if (write.mode === "120000") return { mode, sha256: sha256(encodeUtf8(write.target)), target: write.target };
  return { mode, sha256: write.sha256 };
}

async function readReal(root: string, path: string, content: ContentStore): Promise<PathThen> {
  const place = join(root, path);
  const facts = lstatSync(place, { throwIfNoEntry: false });
  if (facts?.isSymbolicLink()) {
    const target = readlinkSync(place);
    return { mode: "120000", sha256: await content.put(encodeUtf8(target)), target };
  }
  if (!facts?.isFile()) return null;
  return { mode: (facts.mode & 0o100) === 0 ? "100644" : "100755", sha256: await content.put(readFileSync(place)) };
}
