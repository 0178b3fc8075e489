import type { SyncCrypto } from "../../core/ports.ts";
import type { Section } from "./contracts.ts";
import { findHeadings, type Heading, type Outline } from "./headings.ts";
import type { SourceContent } from "./source.ts";

/** Raised whenever a rule changes that decides which sections a file has; stored indexes of another number are void. */
export const SECTION_RULES = 2;

const MARKDOWN_NAME = /\.(?:md|markdown)$/i;

/** Whether the headings of a file make sections: its name ends in `.md` or `.markdown`, in any case. */
export function isMarkdown(file_path: string): boolean {
  return MARKDOWN_NAME.test(file_path);
}

/** All sections of a source file in index order: see `cutSections`. */
export function sectionsOf(crypto: SyncCrypto, file_path: string, content: SourceContent): Section[] {
  return cutSections(crypto, file_path, content, crypto.sha256(content.bytes)).sections;
}

/** The sections of a file, and for each the number of bytes of its content. */
export interface CutFile {
  readonly sections: Section[];
  readonly sizes: number[];
}

/**
 * All sections of a source file in index order: the whole file, then one per heading. A heading that runs from the
 * first to the last line shares its id with the file: the id addresses content (Catalytic Chat Contract, Section).
 * Cost: one pass over the text, and one hash of each section's bytes but the whole file's, which is given.
 */
export function cutSections(
  crypto: SyncCrypto,
  file_path: string,
  content: SourceContent,
  content_hash: string,
): CutFile {
  const { text, bytes } = content;
  const { headings, lines }: Outline = isMarkdown(file_path)
    ? findHeadings(text)
    : { headings: [], lines: countLines(text) };
  const whole: Section = {
    section_id: sectionId(crypto, file_path, 0, lines, content_hash),
    file_path,
    heading_path: [],
    line_start: 0,
    line_end: lines,
    content_hash,
  };
  const sections = [whole];
  const sizes = [bytes.length];
  const ends = sectionEnds(headings);
  const offsets = byteOffsets(content, headings);
  const path: string[] = [];
  const levels: number[] = [];
  for (let i = 0; i < headings.length; i++) {
    const { level, line, text: label } = headings[i]!;
    while (levels.length > 0 && levels[levels.length - 1]! >= level) {
      levels.pop();
      path.pop();
    }
    levels.push(level);
    path.push(label);
    const end = ends[i]!;
    const line_end = end === headings.length ? lines : headings[end]!.line;
    const heading_path = path.slice();
    sizes.push(offsets[end]! - offsets[i]!);
    if (line === 0 && line_end === lines) {
      sections.push({ ...whole, heading_path });
      continue;
    }
    const hash = crypto.sha256(bytes.subarray(offsets[i]!, offsets[end]!));
    sections.push({
      section_id: sectionId(crypto, file_path, line, line_end, hash),
      file_path,
      heading_path,
      line_start: line,
      line_end,
      content_hash: hash,
    });
  }
  return { sections, sizes };
}

/** The address of a section: SHA-256 of `file_path:line_start:line_end:content_hash`. */
export function sectionId(
  crypto: SyncCrypto,
  file_path: string,
  line_start: number,
  line_end: number,
  content_hash: string,
): string {
  return crypto.sha256(`${file_path}:${line_start}:${line_end}:${content_hash}`);
}

/** For each heading the index of the next one of the same or a higher level, or their number. */
function sectionEnds(headings: readonly Heading[]): number[] {
  const ends = new Array<number>(headings.length).fill(headings.length);
  const open: number[] = [];
  for (let i = 0; i < headings.length; i++) {
    while (open.length > 0 && headings[open[open.length - 1]!]!.level >= headings[i]!.level) ends[open.pop()!] = i;
    open.push(i);
  }
  return ends;
}

/** Byte offsets of the first lines of the headings, then the length. */
function byteOffsets({ text, bytes }: SourceContent, headings: readonly Heading[]): number[] {
  const offsets: number[] = [];
  const ascii = text.length === bytes.length;
  let unit = 0;
  let byte = 0;
  for (const { offset } of headings) {
    byte += ascii ? offset - unit : utf8Span(text, unit, offset);
    unit = offset;
    offsets.push(byte);
  }
  offsets.push(bytes.length);
  return offsets;
}

function utf8Span(text: string, from: number, to: number): number {
  let bytes = to - from;
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0x80) bytes += code < 0x800 || (code >= 0xd800 && code <= 0xdfff) ? 1 : 2;
  }
  return bytes;
}

function countLines(text: string): number {
  let lines = 0;
  for (let at = 0; at < text.length; lines++) {
    const lineFeed = text.indexOf("\n", at);
    at = lineFeed === -1 ? text.length : lineFeed + 1;
  }
  return lines;
}
