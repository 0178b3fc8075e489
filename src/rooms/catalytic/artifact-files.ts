import {
  decodeUtf8,
  formatCanonical,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from "../../core/canonical/index.ts";
import { isVerbatimError } from "../../core/errors/index.ts";
import { formatTrees, readTrees, type Trees } from "./tree.ts";
import { readPlainTrees } from "./tree-text.ts";

/**
 * The files of a run directory, read as late and as little as possible. Large artifacts follow from the trees: when a
 * file equals the text that was computed for it, it is canonical and right at once and is never parsed.
 */
export class ArtifactFiles {
  readonly #files: ReadonlyMap<string, Uint8Array>;
  readonly #texts = new Map<string, string | null>();
  readonly #values = new Map<string, JsonValue | undefined>();
  readonly #known = new Map<string, string>();

  constructor(files: ReadonlyMap<string, Uint8Array>) {
    this.#files = files;
  }

  /** The text of a file, or null when it is missing or not UTF-8. */
  text(name: string): string | null {
    let text = this.#texts.get(name);
    if (text === undefined) {
      const bytes = this.#files.get(name);
      text = bytes === undefined ? null : decodeUtf8(bytes);
      this.#texts.set(name, text);
    }
    return text;
  }

  /** What a file must be, line feed apart, as it follows from other files. */
  expect(name: string, canonical: string): void {
    this.#known.set(name, canonical);
  }

  /** Whether a file is the text that was computed for it. */
  isExpected(name: string): boolean {
    const known = this.#known.get(name);
    if (known === undefined) return false;
    const text = this.text(name);
    return text?.length === known.length + 1 && text.startsWith(known) && text.endsWith("\n");
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
      this.expect(name, text.slice(0, -1));
      return plain;
    }
    const quick = readTrees(parseQuickly(text));
    if (quick !== null) {
      const canonical = formatTrees(quick);
      if (text === `${canonical}\n`) {
        this.expect(name, canonical);
        return quick;
      }
    }
    return readTrees(this.value(name));
  }
}

function parseOrNothing(text: string | null): JsonValue | undefined {
  if (text === null) return undefined;
  try {
    return parseJson(text);
  } catch (thrown) {
    if (isVerbatimError(thrown)) return undefined;
    throw thrown;
  }
}

// The platform's parser is lax about keys that are there twice; comparing the whole text afterwards is not.
function parseQuickly(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return undefined;
    throw thrown;
  }
}
