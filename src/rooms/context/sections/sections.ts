import type { SyncCrypto } from "../../../core/ports.ts";
import type { Section } from "../contracts/index.ts";
import type { CodeDefinition } from "../ports.ts";
import type { SourceContent } from "../sources/source.ts";
import { eachCodeSection } from "./code-sections.ts";
import { scanHeadings } from "./headings.ts";
import { collectSections, sectionId, type TakeSection } from "./section-rows.ts";

/** Raised whenever a rule changes that decides which sections a file has; stored indexes of another number are void. */
export const SECTION_RULES = 2;

const MARKDOWN_NAME = /\.(?:md|markdown)$/i;

/** Whether the headings of a file make sections: its name ends in `.md` or `.markdown`, in any case. */
export function isMarkdown(file_path: string): boolean {
  return MARKDOWN_NAME.test(file_path);
}

/** All sections of a source file in index order: see `eachSection`. */
export function sectionsOf(crypto: SyncCrypto, file_path: string, content: SourceContent): Section[] {
  const hash = crypto.sha256(content.bytes);
  return collectSections((take) => eachSection(crypto, file_path, content, hash, take)).sections;
}

/**
 * Hands over all sections of a source file in index order: the whole file, then one per heading. A heading that runs
 * from the first to the last line shares its id with the file: the id addresses content (Catalytic Chat Contract,
 * Section). Cost: one pass over the text, and one hash of each section's bytes but the whole file's, which is given.
 * A taker that keeps nothing needs memory for the outline only. A file of code has its definitions instead of headings.
 */
export function eachSection(
  crypto: SyncCrypto,
  file_path: string,
  content: SourceContent,
  content_hash: string,
  take: TakeSection,
  definitions: readonly CodeDefinition[] = [],
): void {
  const { bytes } = content;
  const outline = isMarkdown(file_path) ? outlineSections(content.text) : withoutHeadings(content.text);
  const { lines, levels, starts, ends, headings } = outline;
  const whole: Section = {
    section_id: sectionId(crypto, file_path, 0, lines, content_hash),
    file_path,
    heading_path: [],
    line_start: 0,
    line_end: lines,
    content_hash,
  };
  take(whole, bytes.length);
  if (definitions.length > 0) eachCodeSection(crypto, whole, content, definitions, take);
  const offsets = byteOffsets(content, outline.offsets);
  const path: string[] = [];
  const above: number[] = [];
  for (let i = 0; i < headings.length; i++) {
    while (above.length > 0 && above[above.length - 1]! >= levels[i]!) {
      above.pop();
      path.pop();
    }
    above.push(levels[i]!);
    path.push(headings[i]!);
    const line_start = starts[i]!;
    const end = ends[i]!;
    const line_end = end === headings.length ? lines : starts[end]!;
    const heading_path = path.slice();
    const size = offsets[end]! - offsets[i]!;
    if (line_start === 0 && line_end === lines) {
      take({ ...whole, heading_path }, size);
      continue;
    }
    const hash = crypto.sha256(bytes.subarray(offsets[i]!, offsets[end]!));
    const section_id = sectionId(crypto, file_path, line_start, line_end, hash);
    take({ section_id, file_path, heading_path, line_start, line_end, content_hash: hash }, size);
  }
}

/** Where the headings of a text begin and which heading ends each; in columns, because there may be very many. */
interface SectionOutline {
  /** Number of lines of the text. */
  readonly lines: number;
  readonly levels: readonly number[];
  /** First lines of the headings. */
  readonly starts: readonly number[];
  /** Offsets of these lines in the text. */
  readonly offsets: readonly number[];
  /** Number of the next heading of the same or a higher level, or how many headings there are. */
  readonly ends: readonly number[];
  readonly headings: readonly string[];
}

/** The outline of a Markdown text. Cost: linear in the text; open headings are in each other, so at most six wait. */
function outlineSections(text: string): SectionOutline {
  const levels: number[] = [];
  const starts: number[] = [];
  const offsets: number[] = [];
  const ends: number[] = [];
  const headings: string[] = [];
  const open: number[] = [];
  const lines = scanHeadings(text, (level, line, offset, heading) => {
    const number = headings.length;
    while (open.length > 0 && levels[open[open.length - 1]!]! >= level) ends[open.pop()!] = number;
    open.push(number);
    levels.push(level);
    starts.push(line);
    offsets.push(offset);
    ends.push(number);
    headings.push(heading);
  });
  for (const number of open) ends[number] = headings.length;
  return { lines, levels, starts, offsets, ends, headings };
}

function withoutHeadings(text: string): SectionOutline {
  return { lines: countLines(text), levels: [], starts: [], offsets: [], ends: [], headings: [] };
}

/** Offsets in the bytes for offsets in the text, then the length. */
function byteOffsets({ text, bytes }: SourceContent, units: readonly number[]): number[] {
  const offsets: number[] = [];
  const ascii = text.length === bytes.length;
  let last = 0;
  let byte = 0;
  for (const unit of units) {
    byte += ascii ? unit - last : utf8Span(text, last, unit);
    last = unit;
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
