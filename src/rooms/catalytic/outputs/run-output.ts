import { concatBytes, encodeUtf8 } from "../../../core/canonical/index.ts";
import type { Hasher, SyncCrypto } from "../../../core/ports.ts";
import type { OutputFilter } from "../ports.ts";

/** Keeps the first part of what a command prints, and counts and hashes all of it, as far as it may be written down. */
export class OutputLog {
  readonly #limit: number;
  readonly #chunks: Uint8Array[] = [];
  readonly #hasher: Hasher;
  readonly #filter: OutputFilter | undefined;
  #kept = 0;
  #total = 0;

  constructor(crypto: SyncCrypto, limit: number, filter?: OutputFilter) {
    this.#limit = limit;
    this.#filter = filter;
    this.#hasher = crypto.hasher();
  }

  add(bytes: Uint8Array): void {
    this.#write(this.#filter === undefined ? bytes : this.#filter.add(bytes));
  }

  #write(bytes: Uint8Array): void {
    this.#total += bytes.length;
    this.#hasher.update(bytes);
    const part = bytes.slice(0, Math.max(0, this.#limit - this.#kept));
    if (part.length === 0) return;
    this.#kept += part.length;
    this.#chunks.push(part);
  }

  /** What is kept of the output, without a mark for what is not. */
  kept(): Uint8Array {
    return concatBytes(this.#chunks);
  }

  /** The log file: everything, or the first part and a line that says what is missing. Spent afterwards. */
  finish(): Uint8Array {
    if (this.#filter !== undefined) this.#write(this.#filter.end());
    const digest = this.#hasher.digest();
    const lost = this.#total - this.#kept;
    const mark = lost === 0 ? "" : `\n[verbatim: ${lost} more bytes, ${this.#total} in all, sha256 ${digest}]\n`;
    return concatBytes([...this.#chunks, encodeUtf8(mark)]);
  }
}
