import { concatBytes, encodeUtf8 } from "../../../core/canonical/index.ts";
import type { Hasher, SyncCrypto } from "../../../core/ports.ts";

/** Keeps the first part of what a command prints, and counts and hashes all of it. */
export class OutputLog {
  readonly #limit: number;
  readonly #chunks: Uint8Array[] = [];
  readonly #hasher: Hasher;
  #kept = 0;
  #total = 0;

  constructor(crypto: SyncCrypto, limit: number) {
    this.#limit = limit;
    this.#hasher = crypto.hasher();
  }

  add(bytes: Uint8Array): void {
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
    const digest = this.#hasher.digest();
    const lost = this.#total - this.#kept;
    const mark = lost === 0 ? "" : `\n[verbatim: ${lost} more bytes, ${this.#total} in all, sha256 ${digest}]\n`;
    return concatBytes([...this.#chunks, encodeUtf8(mark)]);
  }
}
