import { runSteps, type Steps } from "../awaitable.ts";
import { VerbatimError } from "../errors/index.ts";
import type { Awaitable, Crypto } from "../ports.ts";
import { EMPTY_ROOT, MerkleFrontier, TreeHasher } from "./merkle.ts";
import type { ConsistencyProof, InclusionProof } from "./proof.ts";
import { rootOfInclusion, rootsOfConsistency } from "./proof-check.ts";
import { consistencyRanges, inclusionRanges, type LeafRange } from "./tree-shape.ts";

/** Reads entry hashes in global order, as `LedgerReader.readHashes` does. */
export type HashSource = (from: number, limit: number) => Awaitable<readonly string[]>;

const PAGE = 4096;

/** Root over the first `size` entries. Cost: every hash is read once, memory for one page. */
export function computeRoot(crypto: Crypto, hashes: HashSource, size: number): Awaitable<string> {
  checkRange(size, size);
  return runSteps(subtreeRoot(crypto, hashes, { from: 0, to: size }));
}

/** Proof that entry `index` is among the first `size`. Cost: every hash is read once, memory for one page. */
export function proveInclusion(
  crypto: Crypto,
  hashes: HashSource,
  index: number,
  size: number,
): Awaitable<InclusionProof> {
  checkRange(size, size);
  checkRange(index, size - 1);
  return runSteps(inclusionSteps(crypto, hashes, index, size));
}

/** Proof that the first `second` entries begin with the first `first`. Cost: every hash is read once. */
export function proveConsistency(
  crypto: Crypto,
  hashes: HashSource,
  first: number,
  second: number,
): Awaitable<ConsistencyProof> {
  checkRange(second, second);
  checkRange(first, second);
  return runSteps(consistencySteps(crypto, hashes, first, second));
}

function* inclusionSteps(crypto: Crypto, hashes: HashSource, index: number, size: number): Steps<InclusionProof> {
  const path = yield* subtreeRoots(crypto, hashes, inclusionRanges(index, size));
  const entryHash = (yield* readPage(hashes, index, 1))[0]!;
  const hasher = new TreeHasher(crypto);
  const made = hasher.entry(entryHash);
  const leaf = typeof made === "string" ? made : ((yield made) as string);
  const root = (yield* rootOfInclusion(hasher, leaf, index, size, path))!;
  return { entry_hash: entryHash, index, tree_size: size, path, root_hash: root };
}

function* consistencySteps(crypto: Crypto, hashes: HashSource, first: number, second: number): Steps<ConsistencyProof> {
  const sizes = { first_size: first, second_size: second };
  if (first === 0 || first === second) {
    const root = yield* subtreeRoot(crypto, hashes, { from: 0, to: second });
    return { ...sizes, first_root: first === 0 ? EMPTY_ROOT : root, second_root: root, path: [] };
  }
  const { shared, whole, rest } = consistencyRanges(first, second);
  const seeded = yield* subtreeRoots(crypto, hashes, [shared, ...rest]);
  const roots = (yield* rootsOfConsistency(new TreeHasher(crypto), first, second, seeded))!;
  return { ...sizes, first_root: roots.first, second_root: roots.second, path: whole ? seeded.slice(1) : seeded };
}

function* subtreeRoots(crypto: Crypto, hashes: HashSource, ranges: readonly LeafRange[]): Steps<string[]> {
  const roots: string[] = [];
  for (const range of ranges) roots.push(yield* subtreeRoot(crypto, hashes, range));
  return roots;
}

function* subtreeRoot(crypto: Crypto, hashes: HashSource, range: LeafRange): Steps<string> {
  const frontier = new MerkleFrontier(crypto);
  for (let at = range.from; at < range.to; ) {
    const page = yield* readPage(hashes, at, Math.min(PAGE, range.to - at));
    const appended = frontier.appendEntries(page);
    if (appended !== undefined) yield appended;
    at += page.length;
  }
  const root = frontier.root();
  return typeof root === "string" ? root : ((yield root) as string);
}

function* readPage(hashes: HashSource, from: number, limit: number): Steps<readonly string[]> {
  const answer = hashes(from, limit);
  const page = answer instanceof Promise ? ((yield answer) as readonly string[]) : answer;
  if (page.length === 0) {
    throw new VerbatimError("LEDGER_RANGE_INVALID", {
      message: `the ledger has no entry with index ${from}`,
      details: { index: from },
    });
  }
  return page.length > limit ? page.slice(0, limit) : page;
}

function checkRange(value: number, limit: number): void {
  if (Number.isSafeInteger(value) && value >= 0 && value <= limit) return;
  throw new VerbatimError("LEDGER_RANGE_INVALID", {
    message: `${value} is not an integer from 0 to ${limit}`,
    details: { value, limit },
  });
}
