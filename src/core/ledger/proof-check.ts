import { runSteps, type Steps } from "../awaitable.ts";
import { isHash } from "../canonical/index.ts";
import type { Awaitable, Crypto } from "../ports.ts";
import { EMPTY_ROOT, TreeHasher } from "./merkle.ts";
import type { ConsistencyProof, InclusionProof } from "./proof.ts";

/** A path in a tree of any leaves; hashes are lower-case hex. */
export interface InclusionPath {
  readonly leaf_hash: string;
  readonly index: number;
  readonly tree_size: number;
  readonly path: readonly string[];
  readonly root_hash: string;
}

/** Whether the entry is in the ledger with that root. Anything malformed is false; it never throws. */
export function verifyInclusion(crypto: Crypto, proof: InclusionProof): Awaitable<boolean> {
  return runSteps(entrySteps(new TreeHasher(crypto), proof));
}

/** The same for a leaf of any bytes, given by its leaf hash. */
export function verifyInclusionPath(crypto: Crypto, proof: InclusionPath): Awaitable<boolean> {
  return runSteps(inclusionSteps(new TreeHasher(crypto), proof));
}

/** One level of the way from a leaf to the root: what was hashed with what, and what came of it. */
export interface InclusionRung {
  readonly own: string;
  readonly sibling: string;
  /** Where the sibling is. */
  readonly side: "left" | "right";
  readonly result: string;
}

/** The whole way up as it was hashed, bottom first; null where the path does not fit the tree. */
export async function traceInclusion(
  crypto: Crypto,
  proof: InclusionProof,
): Promise<{ readonly leaf: string; readonly rungs: readonly InclusionRung[]; readonly root: string } | null> {
  const { entry_hash, index, tree_size, path, root_hash } = proof;
  if (!isSize(index) || !isSize(tree_size) || index >= tree_size) return null;
  if (!isHexHash(entry_hash) || !isHexHash(root_hash) || !isHashList(path)) return null;
  const hasher = new TreeHasher(crypto);
  const leaf = await hasher.entry(entry_hash);
  const walk = new Walk(index, tree_size - 1);
  const rungs: InclusionRung[] = [];
  let own = leaf;
  for (const sibling of path) {
    if (walk.isAtTop) return null;
    const side = walk.isRight ? "left" : "right";
    const result = await (side === "left" ? hasher.node(sibling, own) : hasher.node(own, sibling));
    rungs.push({ own, sibling, side, result });
    own = result;
    walk.climb();
  }
  return walk.isAtTop ? { leaf, rungs, root: own } : null;
}

/** Whether the second tree is the first one grown. Anything malformed is false; it never throws. */
export function verifyConsistency(crypto: Crypto, proof: ConsistencyProof): Awaitable<boolean> {
  return runSteps(consistencySteps(new TreeHasher(crypto), proof));
}

function* entrySteps(hasher: TreeHasher, proof: InclusionProof): Steps<boolean> {
  if (!isHexHash(proof.entry_hash)) return false;
  const made = hasher.entry(proof.entry_hash);
  const leaf = typeof made === "string" ? made : ((yield made) as string);
  return yield* inclusionSteps(hasher, { ...proof, leaf_hash: leaf });
}

function* inclusionSteps(hasher: TreeHasher, proof: InclusionPath): Steps<boolean> {
  const { leaf_hash, index, tree_size, path, root_hash } = proof;
  if (!isSize(index) || !isSize(tree_size) || index >= tree_size) return false;
  if (!isHexHash(leaf_hash) || !isHexHash(root_hash) || !isHashList(path)) return false;
  return (yield* rootOfInclusion(hasher, leaf_hash, index, tree_size, path)) === root_hash;
}

/** RFC 9162 section 2.1.3.2, up to the comparison; null when the path is too long or too short. */
export function* rootOfInclusion(
  hasher: TreeHasher,
  leaf: string,
  index: number,
  size: number,
  path: readonly string[],
): Steps<string | null> {
  const walk = new Walk(index, size - 1);
  let root = leaf;
  for (const sibling of path) {
    if (walk.isAtTop) return null;
    const made = walk.isRight ? hasher.node(sibling, root) : hasher.node(root, sibling);
    root = typeof made === "string" ? made : ((yield made) as string);
    walk.climb();
  }
  return walk.isAtTop ? root : null;
}

function* consistencySteps(hasher: TreeHasher, proof: ConsistencyProof): Steps<boolean> {
  const { first_size: first, second_size: second, first_root, second_root, path } = proof;
  if (!isSize(first) || !isSize(second) || first > second) return false;
  if (!isHexHash(first_root) || !isHexHash(second_root) || !isHashList(path)) return false;
  if (first === 0 && first_root !== EMPTY_ROOT) return false;
  if (first === second) return path.length === 0 && first_root === second_root;
  if (first === 0) return path.length === 0;
  const seeded = isPowerOfTwo(first) ? [first_root, ...path] : path;
  const roots = yield* rootsOfConsistency(hasher, first, second, seeded);
  return roots !== null && roots.first === first_root && roots.second === second_root;
}

/**
 * RFC 9162 section 2.1.4.2 for 0 < first < second, up to the comparison. The path begins with the subtree that both
 * trees share; null when it is too long or too short.
 */
export function* rootsOfConsistency(
  hasher: TreeHasher,
  first: number,
  second: number,
  path: readonly string[],
): Steps<{ readonly first: string; readonly second: string } | null> {
  const shared = path[0];
  if (shared === undefined) return null;
  const walk = new Walk(first - 1, second - 1);
  walk.skipRightEdges();
  let firstRoot = shared;
  let secondRoot = shared;
  for (let i = 1; i < path.length; i++) {
    if (walk.isAtTop) return null;
    const node = path[i]!;
    if (walk.isRight) {
      const made = hasher.node(node, firstRoot);
      firstRoot = typeof made === "string" ? made : ((yield made) as string);
    }
    const made = walk.isRight ? hasher.node(node, secondRoot) : hasher.node(secondRoot, node);
    secondRoot = typeof made === "string" ? made : ((yield made) as string);
    walk.climb();
  }
  return walk.isAtTop ? { first: firstRoot, second: secondRoot } : null;
}

/** The pair (fn, sn) of RFC 9162: a node and the last node of its level, on the way up. */
class Walk {
  #node: number;
  #last: number;

  constructor(node: number, last: number) {
    this.#node = node;
    this.#last = last;
  }

  get isAtTop(): boolean {
    return this.#last === 0;
  }

  /** Whether the next path element is on the left. */
  get isRight(): boolean {
    return this.#node % 2 === 1 || this.#node === this.#last;
  }

  /** One level up; from a last node without a sibling, to the level where it has one. */
  climb(): void {
    if (this.isRight) while (this.#node % 2 === 0 && this.#node !== 0) this.#shift();
    this.#shift();
  }

  /** Up to the largest subtree that ends with this node. */
  skipRightEdges(): void {
    while (this.#node % 2 === 1) this.#shift();
  }

  #shift(): void {
    this.#node = Math.floor(this.#node / 2);
    this.#last = Math.floor(this.#last / 2);
  }
}

function isSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isHexHash(value: unknown): value is string {
  return typeof value === "string" && isHash(value);
}

function isHashList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isHexHash);
}

function isPowerOfTwo(value: number): boolean {
  let rest = value;
  while (rest % 2 === 0) rest /= 2;
  return rest === 1;
}
