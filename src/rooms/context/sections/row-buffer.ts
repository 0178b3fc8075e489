import { toVersion } from "../index/index-view.ts";
import type { FileRow } from "../ports.ts";

/** Rows are written in portions of this many bytes; a corpus below it is written in one transaction. */
export const STAGE_SIZE = 12 * 1024 * 1024;

const ROOM = STAGE_SIZE + 1024 * 1024;
/** Enough for most workspaces: a collector that is told of megabytes at every build runs after every few of them. */
const FIRST_ROOM = 256 * 1024;
// UTF-8 has at most three bytes for each unit of a string.
const MOST_BYTES = 3;

/**
 * Rows that wait to be written, outside the heap: as strings they would outlive the young generation by the thousand, and
 * a large corpus would fill the memory with what was written long ago.
 */
export class RowBuffer {
  readonly #encoder = new TextEncoder();
  readonly #rules: number;
  #bytes = new Uint8Array(FIRST_ROOM);
  #paths: string[] = [];
  #hashes: string[] = [];
  #ends: number[] = [];
  #size = 0;

  /** `rules` is the number of the rules that the rows are cut by. */
  constructor(rules: number) {
    this.#rules = rules;
  }

  /** Bytes that wait. */
  get size(): number {
    return this.#size;
  }

  /** Adds to the row of the next file. */
  write(text: string): void {
    this.#reserve(text.length * MOST_BYTES);
    this.#size += this.#encoder.encodeInto(text, this.#bytes.subarray(this.#size)).written;
  }

  /** Ends a row: what was written since the last one is that of this file. */
  end(path: string, contentHash: string): void {
    this.#paths.push(path);
    this.#hashes.push(contentHash);
    this.#ends.push(this.#size);
  }

  /** All rows, valid until the next change. */
  list(): FileRow[] {
    return this.#paths.map((path, i) => ({
      ...toVersion(path, this.#hashes[i]!, this.#rules),
      sections: this.#bytes.subarray(i === 0 ? 0 : this.#ends[i - 1]!, this.#ends[i]),
    }));
  }

  clear(): void {
    this.#paths = [];
    this.#hashes = [];
    this.#ends = [];
    this.#size = 0;
  }

  #reserve(more: number): void {
    if (this.#size + more <= this.#bytes.length) return;
    // Memory that is not written to costs nothing, so the first step is the last one for most.
    const larger = new Uint8Array(Math.max(this.#size + more, this.#bytes.length * 2, ROOM));
    larger.set(this.#bytes.subarray(0, this.#size));
    this.#bytes = larger;
  }
}
