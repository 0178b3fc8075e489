import { decodeUtf8, encodeUtf8, findIllFormed, foldLineEnds } from "../../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { showPath } from "../../../core/paths/index.ts";
import type { SyncCrypto } from "../../../core/ports.ts";
import { countLines, cutLines, type LineText, toLines } from "../../../core/text/index.ts";
import type { Section } from "../contracts/index.ts";
import { hashOf, isFileUnchanged } from "../index/index-image.ts";
import type { IndexView } from "../index/index-view.ts";
import type { SourceProblem, SourceTree } from "../ports.ts";

/** The content of a source file: its text with line ends folded to LF, and the UTF-8 bytes of that text. */
export interface SourceContent {
  readonly text: string;
  readonly bytes: Uint8Array;
}

/**
 * Decodes a source file strictly and folds its line ends; a byte order mark stays. Ill-formed bytes are
 * SOURCE_NOT_UTF8. Without a carriage return the given bytes are the content's bytes, not copied.
 */
export function decodeSource(bytes: Uint8Array, file_path: string): SourceContent {
  const text = decodeUtf8(bytes);
  if (text === null) {
    const byte_offset = findIllFormed(bytes);
    throw new VerbatimError("SOURCE_NOT_UTF8", {
      message: `${showPath(file_path)} is not valid UTF-8 at byte ${byte_offset}`,
      where: `${file_path}@${byte_offset}`,
      details: { file_path, byte_offset },
    });
  }
  return text.includes("\r") ? toSourceContent(text) : { text, bytes };
}

/** The content that a text is, once its line ends are folded. */
export function toSourceContent(text: string): SourceContent {
  const folded = foldLineEnds(text);
  return { text: folded, bytes: encodeUtf8(folded) };
}

/** The error of a build that met files it cannot index: all of them, in path order. */
export function sourcesInvalid(problems: readonly SourceProblem[]): VerbatimError {
  const first = problems[0]!;
  const more = problems.length > 1 ? `, and ${problems.length - 1} more` : "";
  return new VerbatimError("INDEX_SOURCES_INVALID", {
    message: `${showPath(first.file_path)} cannot be indexed (${first.code})${more}; the previous index was kept`,
    where: first.byte_offset === undefined ? first.file_path : `${first.file_path}@${first.byte_offset}`,
    fix: `Fix each of the files listed, or add it to context.exclude${waysOn(problems)}.`,
    details: { problems },
  });
}

/** Ways on that only some problems have. */
function waysOn(problems: readonly SourceProblem[]): string {
  const has = (wanted: SourceProblem["code"]) => problems.some(({ code }) => code === wanted);
  const large = has("SOURCE_TOO_LARGE") ? "; for a large one, raise context.max_file_bytes" : "";
  const secret = has("SOURCE_SECRET") ? "; for one that is not a secret, name it in context.secrets.allow" : "";
  return large + secret;
}

const LIMIT = 64 * 1024 * 1024;

interface Cached {
  readonly hash: string;
  readonly lines: LineText;
  /** Sections whose own hash was checked against this content. */
  readonly checked: Set<string>;
}

/** Contents of source files, verified against the index; least recently used go first beyond 64 MiB. */
export class ContentCache {
  readonly #tree: SourceTree;
  readonly #crypto: SyncCrypto;
  readonly #maxBytes: number;
  readonly #files = new Map<string, Cached>();
  #size = 0;

  constructor(tree: SourceTree, crypto: SyncCrypto, maxBytes: number) {
    this.#tree = tree;
    this.#crypto = crypto;
    this.#maxBytes = maxBytes;
  }

  /**
   * The lines of a section's file, after checking that file and section still are what the index says:
   * FILE_MISSING, SOURCE_UNREADABLE, CONTENT_HASH_MISMATCH or LINE_RANGE_INVALID. Files in `looked` were found
   * unchanged just now; the file is added to them.
   */
  open(view: IndexView, section: Section, looked: Set<string> = new Set()): LineText {
    const cached = this.#file(view, section.file_path, looked);
    if (!cached.checked.has(section.section_id)) {
      const { file_path, line_start, line_end } = section;
      if (line_start > line_end || line_end > countLines(cached.lines))
        throw new VerbatimError("LINE_RANGE_INVALID", {
          where: file_path,
          details: { file_path, line_start, line_end },
        });
      const actual = this.#crypto.sha256(cutLines(cached.lines, line_start, line_end));
      if (actual !== section.content_hash) throw mismatch(file_path, section.content_hash, actual);
      cached.checked.add(section.section_id);
    }
    return cached.lines;
  }

  #file(view: IndexView, path: string, looked: Set<string>): Cached {
    const cached = this.#files.get(path);
    if (cached !== undefined && looked.has(path)) return cached;
    const number = view.fileNumber(path);
    const expected = hashOf(view.image, number);
    const stat = this.#tree.stat(path);
    if (stat === null) throw new VerbatimError("FILE_MISSING", { where: path, details: { file_path: path } });
    looked.add(path);
    if (cached !== undefined && cached.hash === expected && isFileUnchanged(view.image.stats, number, stat)) {
      this.#files.delete(path);
      this.#files.set(path, cached);
      return cached;
    }
    return this.#read(path, expected, stat.size);
  }

  #read(path: string, expected: string, size: number): Cached {
    const bytes = this.#tree.read(path, this.#maxBytes, size);
    if (!(bytes instanceof Uint8Array)) {
      if (bytes.code === "SOURCE_TOO_LARGE") throw mismatch(path, expected, null);
      throw new VerbatimError("SOURCE_UNREADABLE", { where: path, details: { file_path: path } });
    }
    const content = this.#decode(bytes, path, expected);
    const actual = this.#crypto.sha256(content.bytes);
    if (actual !== expected) throw mismatch(path, expected, actual);
    this.#forget(path);
    const cached = { hash: actual, lines: toLines(content.text), checked: new Set<string>() };
    this.#size += sizeOf(cached);
    this.#files.set(path, cached);
    for (const [oldest] of this.#files) {
      if (this.#size <= LIMIT || oldest === path) break;
      this.#forget(oldest);
    }
    return cached;
  }

  /** A file that is no longer text is a changed file: only valid text was indexed. */
  #decode(bytes: Uint8Array, path: string, expected: string): SourceContent {
    try {
      return decodeSource(bytes, path);
    } catch (thrown) {
      if (!isVerbatimError(thrown) || thrown.code !== "SOURCE_NOT_UTF8") throw thrown;
      throw mismatch(path, expected, this.#crypto.sha256(bytes));
    }
  }

  #forget(path: string): void {
    const cached = this.#files.get(path);
    if (cached === undefined) return;
    this.#size -= sizeOf(cached);
    this.#files.delete(path);
  }
}

/** A text of empty lines takes more memory for its lines than for itself. */
function sizeOf({ lines }: Cached): number {
  return lines.text.length + 8 * lines.starts.length;
}

/** Whether an error says that a file is no longer the one that was indexed. */
export function isDrift(thrown: unknown): boolean {
  return (
    isVerbatimError(thrown) && ["CONTENT_HASH_MISMATCH", "FILE_MISSING", "SOURCE_UNREADABLE"].includes(thrown.code)
  );
}

function mismatch(path: string, expected: string, actual: string | null): VerbatimError {
  return new VerbatimError("CONTENT_HASH_MISMATCH", {
    message: `${showPath(path)} has changed since it was indexed`,
    where: path,
    fix: "Build the index again: verbatim index build",
    details: { file_path: path, expected, actual },
  });
}
