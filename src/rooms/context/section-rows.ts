import { formatString } from "../../core/canonical/index.ts";
import type { SyncCrypto } from "../../core/ports.ts";
import type { Section } from "./contracts.ts";
import { type CutFile, sectionId } from "./sections.ts";

/**
 * The sections of one file as the store keeps them: a line `start end bytes depth hash "heading"` each, in index order.
 * Path, id and the outer headings follow from the rest, so a row is a third of its SECTION_INDEX lines.
 */
export function formatSectionRows({ sections, sizes }: CutFile): string {
  const lines: string[] = [];
  for (let i = 0; i < sections.length; i++) {
    const { line_start, line_end, heading_path, content_hash } = sections[i]!;
    const depth = heading_path.length;
    const heading = formatString(heading_path[depth - 1] ?? "");
    lines.push(`${line_start} ${line_end} ${sizes[i]} ${depth} ${content_hash} ${heading}\n`);
  }
  // Joined, not added up: thousands of these wait in memory, and a text in pieces keeps every piece alive.
  return lines.join("");
}

const ROW = /^([0-9]+) ([0-9]+) ([0-9]+) ([0-9]+) ([0-9a-f]{64}) (".*")$/;

/** Reads the rows of a file back; null when they are damaged. */
export function parseSectionRows(crypto: SyncCrypto, file_path: string, text: string): CutFile | null {
  const sections: Section[] = [];
  const sizes: number[] = [];
  const path: string[] = [];
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const match = ROW.exec(line);
    const heading = match === null ? null : readHeading(match[6]!);
    if (match === null || heading === null) return null;
    const [line_start, line_end, size, depth] = match.slice(1, 5).map(Number) as [number, number, number, number];
    if (depth > path.length + 1) return null;
    path.length = Math.max(0, depth - 1);
    if (depth > 0) path.push(heading);
    const content_hash = match[5]!;
    sections.push({
      section_id: sectionId(crypto, file_path, line_start, line_end, content_hash),
      file_path,
      heading_path: path.slice(),
      line_start,
      line_end,
      content_hash,
    });
    sizes.push(size);
  }
  return sections.length > 0 ? { sections, sizes } : null;
}

function readHeading(text: string): string | null {
  try {
    return JSON.parse(text) as string;
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return null;
    throw thrown;
  }
}
