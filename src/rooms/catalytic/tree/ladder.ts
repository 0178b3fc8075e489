import { toHex, writeHex } from "../../../core/hex.ts";
import type { SyncCrypto } from "../../../core/ports.ts";
import { EMPTY_ROOT } from "../contracts/constants.ts";

/** Bytes of one hash. */
const NODE = 32;

/**
 * A Merkle tree with every hash in it: the leaves, then each level up to the root, 32 bytes a node. A leaf that changes
 * costs one hash a level; one that comes or goes, the hashes of everything behind it.
 */
export type Ladder = readonly Uint8Array[];

/** What happens to one leaf: another hash, none any more, or one that is put before the leaf with this number. */
export interface LeafChange {
  readonly at: number;
  readonly isThere: boolean;
  readonly leaf: string | null;
}

/** All hashes over leaves that are in order. Cost: one hash per leaf. */
export function buildLadder(crypto: SyncCrypto, leaves: readonly string[]): Ladder {
  const bytes = new Uint8Array(leaves.length * NODE);
  for (const [i, leaf] of leaves.entries()) writeHex(leaf, bytes, i * NODE);
  return climb(crypto, bytes, [], new Set(), 0);
}

export function rootOfLadder(ladder: Ladder): string {
  const top = ladder.at(-1);
  return top === undefined ? EMPTY_ROOT : toHex(top);
}

/** The hashes after some changes, which are in the order of their places. */
export function spliceLadder(crypto: SyncCrypto, ladder: Ladder, changes: readonly LeafChange[]): Ladder {
  const old = ladder[0] ?? new Uint8Array(0);
  const more = changes.filter(({ isThere }) => !isThere).length;
  const fewer = changes.filter(({ leaf }) => leaf === null).length;
  const leaves = new Uint8Array(old.length + (more - fewer) * NODE);
  const touched = new Set<number>();
  let moved = Number.POSITIVE_INFINITY;
  let [from, to] = [0, 0];
  for (const { at, isThere, leaf } of changes) {
    leaves.set(old.subarray(from * NODE, at * NODE), to * NODE);
    to += at - from;
    from = isThere ? at + 1 : at;
    if (isThere && leaf !== null) touched.add(to);
    else moved = Math.min(moved, to);
    if (leaf !== null) writeHex(leaf, leaves, to++ * NODE);
  }
  leaves.set(old.subarray(from * NODE), to * NODE);
  return climb(crypto, leaves, ladder, touched, moved);
}

/** Makes the levels over the leaves; nodes that are neither over a touched one nor behind what moved are those of before. */
function climb(
  crypto: SyncCrypto,
  leaves: Uint8Array,
  before: Ladder,
  touched: ReadonlySet<number>,
  moved: number,
): Ladder {
  if (leaves.length === 0) return [];
  const levels = [leaves];
  for (let level = leaves, dirty = touched, from = moved; level.length > NODE; ) {
    const count = level.length / NODE;
    from = Math.floor(from / 2);
    dirty = new Set([...dirty].map((i) => i >> 1));
    const next = new Uint8Array(Math.ceil(count / 2) * NODE);
    const known = before[levels.length];
    if (known !== undefined) next.set(known.subarray(0, Math.min(known.length, next.length)));
    for (const i of dirty) if (i < from) writeNode(crypto, level, i, next);
    for (let i = from; i < next.length / NODE; i++) writeNode(crypto, level, i, next);
    levels.push(next);
    level = next;
  }
  return levels;
}

const DIGITS = Uint8Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));
const pair = new Uint8Array(NODE * 4);

/** One hash over the texts of two; the last of an odd level is repeated. */
function writeNode(crypto: SyncCrypto, level: Uint8Array, i: number, next: Uint8Array): void {
  const left = i * 2 * NODE;
  const right = left + NODE < level.length ? left + NODE : left;
  for (let k = 0; k < NODE; k++) {
    const [a, b] = [level[left + k]!, level[right + k]!];
    pair[k * 2] = DIGITS[a >> 4]!;
    pair[k * 2 + 1] = DIGITS[a & 15]!;
    pair[NODE * 2 + k * 2] = DIGITS[b >> 4]!;
    pair[NODE * 2 + k * 2 + 1] = DIGITS[b & 15]!;
  }
  writeHex(crypto.sha256(pair), next, i * NODE);
}

/** The levels over so many leaves, as they lie one after the other. */
export function readLadder(bytes: Uint8Array, at: number, leaves: number): Ladder {
  let from = at;
  return countLevels(leaves).map((nodes) => {
    from += nodes * NODE;
    return bytes.subarray(from - nodes * NODE, from);
  });
}

/** How many bytes all levels over so many leaves have. */
export function sizeOfLadder(leaves: number): number {
  return countLevels(leaves).reduce((size, nodes) => size + nodes * NODE, 0);
}

function countLevels(leaves: number): readonly number[] {
  const counts = leaves === 0 ? [] : [leaves];
  for (let last = leaves; last > 1; counts.push(last)) last = Math.ceil(last / 2);
  return counts;
}
