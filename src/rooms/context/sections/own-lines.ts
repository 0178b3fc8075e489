import { cutLines, type LineText } from "../../../core/text/index.ts";
import type { Section } from "../contracts/index.ts";

/** A range of lines of a file, the end exclusive. */
type LineRange = readonly [start: number, end: number];

/**
 * The lines of a section that are in no section inside it, in order. `sections` are those of the file in index order. In
 * Markdown that is one range, up to the first heading inside; between the parts of a class there are more. Sections that
 * only share lines, as two on one line do, take nothing from each other.
 */
export function ownRanges(sections: readonly Section[], ordinal: number): LineRange[] {
  const { line_start, line_end, heading_path } = sections[ordinal]!;
  const ranges: LineRange[] = [];
  let at = line_start;
  for (let i = ordinal + 1; i < sections.length; i++) {
    const other = sections[i]!;
    if (other.line_start >= line_end) break;
    const isWhole = other.line_start === line_start && other.line_end === line_end;
    if (other.line_end > line_end || (isWhole && other.heading_path.length <= heading_path.length)) continue;
    if (other.line_start > at) ranges.push([at, other.line_start]);
    at = Math.max(at, other.line_end);
    if (at >= line_end) return ranges;
  }
  if (at < line_end) ranges.push([at, line_end]);
  return ranges;
}

/** The text of ranges, one after the other. */
export function cutRanges(lines: LineText, ranges: readonly LineRange[]): string {
  return ranges.map(([start, end]) => cutLines(lines, start, end)).join("");
}

/** The line of the file that is number `index` among the lines of ranges; the last one where there are fewer. */
export function lineInRanges(ranges: readonly LineRange[], index: number): number {
  let left = index;
  for (const [start, end] of ranges) {
    if (left < end - start) return start + left;
    left -= end - start;
  }
  return Math.max(0, (ranges.at(-1)?.[1] ?? 1) - 1);
}
