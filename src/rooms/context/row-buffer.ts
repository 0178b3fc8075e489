import { toVersion } from "./index-load.ts";
import type { FileRow } from "./ports.ts";
import { SECTION_RULES } from "./sections.ts";

// UTF-8 has at most three bytes for each unit of a string.
const MOST_BYTES = 3;

/**
 * Rows that wait to be written, outside the heap: as strings they would outlive the young generation by the thousand, and
 * a large corpus would fill the memory with what was written long ago.
 */
export class RowBuffer {
  readonly #encoder = new TextEncoder();
  #bytes: Uint8Array<ArrayBuffer>;
  #paths: string[] = [];
  #hashes: string[] = [];
  #ends: number[] = [];
  #size = 0;

  /** Room for so many bytes; memory that is not written to costs nothing. */
  constructor(capacity: number) {
    this.#bytes = new Uint8Array(capacity);
  }

  /** Bytes that wait. */
  get size(): number {
    return this.#size;
  }

  add(path: string, contentHash: string, sections: string): void {
    this.#reserve(sections.length * MOST_BYTES);
    this.#size += this.#encoder.encodeInto(sections, this.#bytes.subarray(this.#size)).written;
    this.#paths.push(path);
    this.#hashes.push(contentHash);
    this.#ends.push(this.#size);
  }

  /** All rows, valid until the next change. */
  list(): FileRow[] {
    return this.#paths.map((path, i) => ({
      ...toVersion(path, this.#hashes[i]!, SECTION_RULES),
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
    const larger = new Uint8Array(this.#size + more);
    larger.set(this.#bytes.subarray(0, this.#size));
    this.#bytes = larger;
  }
}
