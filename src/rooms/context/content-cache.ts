import { isVerbatimError, VerbatimError } from "../../core/errors/index.ts";
import { showPath } from "../../core/paths/index.ts";
import type { SyncCrypto } from "../../core/ports.ts";
import { cutLines, type LineText, toLines } from "../../core/text/index.ts";
import type { Section } from "./contracts.ts";
import { findFile, isUnchanged } from "./index-image.ts";
import type { IndexView } from "./index-view.ts";
import type { SourceTree } from "./ports.ts";
import { decodeSource } from "./source.ts";

const LIMIT = 64 * 1024 * 1024;

interface Cached {
  readonly hash: string;
  readonly lines: LineText;
  /** Sections whose own hash was checked against this content. */
  readonly checked: Set<string>;
}

/** Contents of source files, verified against the index; least recently used go first beyond 64 MiB of text. */
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

  /** The lines of a section's file, after checking that file and section still are what the index says. */
  open(view: IndexView, section: Section): LineText {
    const cached = this.#file(view, section.file_path);
    if (!cached.checked.has(section.section_id)) {
      const { line_start, line_end } = section;
      if (line_start > line_end || line_end >= cached.lines.starts.length)
        throw new VerbatimError("LINE_RANGE_INVALID", { where: section.file_path });
      const actual = this.#crypto.sha256(cutLines(cached.lines, line_start, line_end));
      if (actual !== section.content_hash) throw mismatch(section.file_path, section.content_hash, actual);
      cached.checked.add(section.section_id);
    }
    return cached.lines;
  }

  /** The text of a section up to a line, or null when its file is no longer what the index says. */
  peek(view: IndexView, section: Section, end: number): string | null {
    try {
      return cutLines(this.open(view, section), section.line_start, end);
    } catch (thrown) {
      if (isVerbatimError(thrown) && (thrown.code === "CONTENT_HASH_MISMATCH" || thrown.code === "FILE_MISSING"))
        return null;
      throw thrown;
    }
  }

  #file(view: IndexView, path: string): Cached {
    const number = findFile(view.image, path);
    const expected = view.image.hashes[number]!;
    const stat = this.#tree.stat(path);
    if (stat === null) throw new VerbatimError("FILE_MISSING", { where: path, details: { file_path: path } });
    const cached = this.#files.get(path);
    if (cached !== undefined && cached.hash === expected && isUnchanged(view.image.stats, number, stat)) {
      this.#files.delete(path);
      this.#files.set(path, cached);
      return cached;
    }
    return this.#read(path, expected);
  }

  #read(path: string, expected: string): Cached {
    const bytes = this.#tree.read(path, this.#maxBytes);
    if (!(bytes instanceof Uint8Array)) {
      if (bytes.code === "SOURCE_TOO_LARGE") throw mismatch(path, expected, "a file larger than the limit");
      throw new VerbatimError("FILE_MISSING", { where: path, details: { file_path: path } });
    }
    const content = decodeSource(bytes, path);
    const actual = this.#crypto.sha256(content.bytes);
    if (actual !== expected) throw mismatch(path, expected, actual);
    this.#forget(path);
    const cached = { hash: actual, lines: toLines(content.text), checked: new Set<string>() };
    this.#size += content.text.length;
    this.#files.set(path, cached);
    for (const [oldest] of this.#files) {
      if (this.#size <= LIMIT || oldest === path) break;
      this.#forget(oldest);
    }
    return cached;
  }

  #forget(path: string): void {
    this.#size -= this.#files.get(path)?.lines.text.length ?? 0;
    this.#files.delete(path);
  }
}

function mismatch(path: string, expected: string, actual: string): VerbatimError {
  return new VerbatimError("CONTENT_HASH_MISMATCH", {
    message: `${showPath(path)} has changed since it was indexed`,
    where: path,
    fix: "verbatim index build",
    details: { file_path: path, expected, actual },
  });
}
