import { formatString } from "../../../core/canonical/index.ts";
import type { Awaitable, Crypto, SyncCrypto } from "../../../core/ports.ts";
import type { Section } from "../contracts/index.ts";

/** The sections of a file, and for each the number of bytes of its content. */
export interface CutFile {
  readonly sections: Section[];
  readonly sizes: number[];
}

/** Receives a section and the number of bytes of its content. */
export type TakeSection = (section: Section, size: number) => void;

/** What is handed over, as a list. */
export function collectSections(each: (take: TakeSection) => void): CutFile {
  const sections: Section[] = [];
  const sizes: number[] = [];
  each((section, size) => {
    sections.push(section);
    sizes.push(size);
  });
  return { sections, sizes };
}

/**
 * The sections of one file as the store keeps them: a line `start end bytes depth hash "heading"` each, in index order.
 * Path, id and the outer headings follow from the rest, so a row is a third of its SECTION_INDEX lines. Where the outer
 * headings are not those of the row before, as a method in Go has them, the whole path is there: `["Type","method"]`.
 */
export function formatSectionRows({ sections, sizes }: CutFile): string {
  return sections.map((one, i) => formatSectionRow(one, sizes[i]!, sections[i - 1]?.heading_path ?? [])).join("");
}

/** The line of one section; `before` is the heading path of the line before it. */
export function formatSectionRow(section: Section, size: number, before: readonly string[]): string {
  const { line_start, line_end, heading_path, content_hash } = section;
  const depth = heading_path.length;
  const heading = depth === 0 ? '""' : formatString(heading_path[depth - 1]!);
  const shown = isBelow(heading_path, before) ? heading : `[${heading_path.map(formatString).join(",")}]`;
  return `${line_start} ${line_end} ${size} ${depth} ${content_hash} ${shown}\n`;
}

/** Whether all but the last heading of a path are those with which another begins. */
function isBelow(path: readonly string[], before: readonly string[]): boolean {
  if (path.length - 1 > before.length) return false;
  for (let i = 0; i < path.length - 1; i++) if (path[i] !== before[i]) return false;
  return true;
}

const ROW = /^([0-9]+) ([0-9]+) ([0-9]+) ([0-9]+) ([0-9a-f]{64}) (".*"|\[.*\])$/;

/** Hands over the sections of a file's rows in their order; false when a row is damaged, or there is none. */
export function eachSectionRow(crypto: SyncCrypto, file_path: string, text: string, take: TakeSection): boolean {
  const path: string[] = [];
  let count = 0;
  for (let at = 0, end = 0; at < text.length; at = end + 1) {
    const lineFeed = text.indexOf("\n", at);
    end = lineFeed === -1 ? text.length : lineFeed;
    if (at === end) continue;
    count++;
    const match = ROW.exec(text.slice(at, end));
    const heading = match === null ? null : readHeading(match[6]!);
    if (match === null || heading === null) return false;
    const depth = Number(match[4]);
    if (typeof heading !== "string") {
      if (heading.length !== depth) return false;
      path.splice(0, path.length, ...heading);
    } else {
      if (depth > path.length + 1) return false;
      path.length = Math.max(0, depth - 1);
      if (depth > 0) path.push(heading);
    }
    const line_start = Number(match[1]);
    const line_end = Number(match[2]);
    const content_hash = match[5]!;
    const section_id = sectionId(crypto, file_path, line_start, line_end, content_hash);
    take({ section_id, file_path, heading_path: path.slice(), line_start, line_end, content_hash }, Number(match[3]));
  }
  return count > 0;
}

function readHeading(text: string): string | readonly string[] | null {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return value.every((part) => typeof part === "string") ? value : null;
    return typeof value === "string" ? value : null;
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return null;
    throw thrown;
  }
}

/** The address of a section: SHA-256 of `file_path:line_start:line_end:content_hash`. */
export function sectionId(
  crypto: SyncCrypto,
  file_path: string,
  line_start: number,
  line_end: number,
  content_hash: string,
): string;
export function sectionId(
  crypto: Crypto,
  file_path: string,
  line_start: number,
  line_end: number,
  content_hash: string,
): Awaitable<string>;
export function sectionId(
  crypto: Crypto,
  file_path: string,
  line_start: number,
  line_end: number,
  content_hash: string,
): Awaitable<string> {
  return crypto.sha256(`${file_path}:${line_start}:${line_end}:${content_hash}`);
}
