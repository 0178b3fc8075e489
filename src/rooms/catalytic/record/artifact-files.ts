import {
  decodeUtf8,
  formatCanonical,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../../core/canonical/index.ts";
import type { SyncCrypto } from "../../../core/ports.ts";
import { formatTrees, readTrees, type Trees } from "../tree/tree.ts";
import { readPlainTrees } from "../tree/tree-text.ts";
import { parseOrNothing } from "./record-files.ts";

/** Files that have the same bytes after an exact restoration. */
const TWINS = new Map([
  ["POST_TREE.json", "PRE_TREE.json"],
  ["POST_MANIFEST.json", "PRE_MANIFEST.json"],
]);

/**
 * The files of a run directory, read as late and as little as possible. Large artifacts follow from the trees: when a
 * file equals the text that was computed for it, it is canonical and right at once and is never parsed.
 */
export class ArtifactFiles {
  readonly #files: ReadonlyMap<string, Uint8Array>;
  readonly #texts = new Map<string, string | null>();
  readonly #values = new Map<string, JsonValue | undefined>();
  readonly #known = new Map<string, string>();
  readonly #hashes = new Map<string, string | null>();
  readonly #crypto: SyncCrypto;

  constructor(crypto: SyncCrypto, files: ReadonlyMap<string, Uint8Array>) {
    this.#crypto = crypto;
    this.#files = files;
  }

  /** SHA-256 of the bytes of a file, or null when it is missing. Computed once. */
  hash(name: string): string | null {
    let hash = this.#hashes.get(name);
    if (hash === undefined) {
      const bytes = this.#files.get(name);
      hash = bytes === undefined ? null : this.#crypto.sha256(bytes);
      this.#hashes.set(name, hash);
    }
    return hash;
  }

  /** The text of a file, or null when it is missing or not UTF-8. */
  text(name: string): string | null {
    let text = this.#texts.get(name);
    if (text === undefined) {
      text = this.#read(name);
      this.#texts.set(name, text);
    }
    return text;
  }

  #read(name: string): string | null {
    const twin = TWINS.get(name);
    if (twin !== undefined && this.hash(name) === this.hash(twin)) return this.text(twin);
    const bytes = this.#files.get(name);
    return bytes === undefined ? null : decodeUtf8(bytes);
  }

  /** What a file must be, line feed included, as it follows from other files. */
  expect(name: string, text: string): void {
    this.#known.set(name, text);
  }

  /** Whether a file is the text that was computed for it. */
  isExpected(name: string): boolean {
    const known = this.#known.get(name);
    return known !== undefined && this.text(name) === known;
  }

  /** Whether a file is JSON and equals its own canonical bytes. */
  isCanonical(name: string): boolean {
    if (this.isExpected(name)) return true;
    const value = this.value(name);
    return value !== undefined && this.text(name) === `${formatCanonical(value)}\n`;
  }

  /** The JSON value of a file, or undefined. */
  value(name: string): JsonValue | undefined {
    if (!this.#values.has(name)) this.#values.set(name, parseOrNothing(this.text(name)));
    return this.#values.get(name);
  }

  object(name: string): JsonObject | null {
    const value = this.value(name);
    return isJsonObject(value) ? value : null;
  }

  /** The trees of a file, or null. A text that the trees give back exactly needs no strict parser. */
  trees(name: string): Trees | null {
    const text = this.text(name);
    if (text === null) return null;
    const plain = readPlainTrees(text);
    if (plain !== null) {
      this.expect(name, text);
      return plain;
    }
    const quick = readTrees(parseQuickly(text));
    if (quick !== null) {
      if (text === `${formatTrees(quick)}\n`) {
        this.expect(name, text);
        return quick;
      }
    }
    return readTrees(this.value(name));
  }
}

// The platform's parser is lax about keys that appear twice; comparing the whole text afterwards is not. What it cannot read
// is given to the strict one, whatever the reason.
function parseQuickly(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
