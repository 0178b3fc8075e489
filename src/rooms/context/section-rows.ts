import type { SyncCrypto } from "../../core/ports.ts";
import type { Section } from "./contracts.ts";
import { sectionId } from "./sections.ts";

/**
 * The sections of one file as the store keeps them: a line `start end depth hash "heading"` each, in index order.
 * Path, id and the outer headings follow from the rest, so a row is a third of its SECTION_INDEX lines.
 */
export function formatSectionRows(sections: readonly Section[]): string {
  let text = "";
  for (const { line_start, line_end, heading_path, content_hash } of sections) {
    const depth = heading_path.length;
    text += `${line_start} ${line_end} ${depth} ${content_hash} ${JSON.stringify(heading_path[depth - 1] ?? "")}\n`;
  }
  return text;
}

const ROW = /^([0-9]+) ([0-9]+) ([0-9]+) ([0-9a-f]{64}) (.*)$/;

/** Reads the rows of a file back; null when they are damaged. */
export function parseSectionRows(crypto: SyncCrypto, file_path: string, text: string): Section[] | null {
  const sections: Section[] = [];
  const path: string[] = [];
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const match = ROW.exec(line);
    if (match === null) return null;
    const [, start, end, depth, content_hash, heading] = match as unknown as [
      string,
      string,
      string,
      string,
      string,
      string,
    ];
    const line_start = Number(start);
    const line_end = Number(end);
    path.length = Math.max(0, Number(depth) - 1);
    if (depth !== "0") path.push(JSON.parse(heading) as string);
    sections.push({
      section_id: sectionId(crypto, file_path, line_start, line_end, content_hash),
      file_path,
      heading_path: [...path],
      line_start,
      line_end,
      content_hash,
    });
  }
  return sections.length > 0 ? sections : null;
}
