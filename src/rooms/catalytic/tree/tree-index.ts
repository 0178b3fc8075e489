import { concatBytes } from "../../../core/canonical/index.ts";
import { type Ladder, readLadder, sizeOfLadder } from "./ladder.ts";

/**
 * Where each entry of a tree begins in its texts, and the hashes over it: enough to make the texts of a tree that
 * differs in a few entries without looking at the others.
 */
export interface TreeIndex {
  /** Of PRE_TREE.json. */
  readonly entries: Uint32Array;
  readonly tree: Ladder;
  /** Of PRE_MANIFEST.json, which has files only. */
  readonly files: Uint32Array;
  readonly contents: Ladder;
}

const WORD = 4;

/** An index as bytes: both counts, both lists of beginnings, both ladders. */
export function packIndex({ entries, tree, files, contents }: TreeIndex): Uint8Array {
  const words = Uint32Array.from([entries.length, files.length]);
  return concatBytes([toBytes(words), toBytes(entries), toBytes(files), ...tree, ...contents]);
}

/** Reads what was packed by this machine; null for anything else. */
export function readIndex(bytes: Uint8Array): TreeIndex | null {
  if (bytes.length < 2 * WORD) return null;
  const [entries = 0, files = 0] = toWords(bytes, 0, 2);
  const at = (2 + entries + files) * WORD;
  if (bytes.length !== at + sizeOfLadder(entries) + sizeOfLadder(files)) return null;
  return {
    entries: toWords(bytes, 2 * WORD, entries),
    files: toWords(bytes, (2 + entries) * WORD, files),
    tree: readLadder(bytes, at, entries),
    contents: readLadder(bytes, at + sizeOfLadder(entries), files),
  };
}

function toBytes(words: Uint32Array): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
}

/** A copy, because numbers must be at a multiple of four. */
function toWords(bytes: Uint8Array, at: number, count: number): Uint32Array {
  const words = new Uint32Array(count);
  toBytes(words).set(bytes.subarray(at, at + count * WORD));
  return words;
}
