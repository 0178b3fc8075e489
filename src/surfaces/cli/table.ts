import { showLine } from "./plain-text.ts";

/** A column: its heading, and whether it may be shortened when the terminal is narrow. */
export interface Column {
  readonly title: string;
  readonly align?: "left" | "right";
  readonly shrink?: boolean;
}

/** Lines of a table that fits the width; only columns that may shrink are cut, with an ellipsis. */
export function formatTable(columns: readonly Column[], rows: readonly (readonly string[])[], width: number): string[] {
  const all = [columns.map(({ title }) => title), ...rows.map((row) => row.map(showLine))];
  const widths = columns.map((_, i) => all.reduce((most, row) => Math.max(most, displayWidth(row[i] ?? "")), 0));
  const gaps = 2 * (columns.length - 1);
  let excess = widths.reduce((sum, one) => sum + one, gaps) - width;
  for (const [i, column] of columns.entries()) {
    if (excess <= 0 || column.shrink !== true) continue;
    const cut = Math.min(excess, Math.max(0, widths[i]! - 8));
    widths[i] = widths[i]! - cut;
    excess -= cut;
  }
  return all.map((row) =>
    columns
      .map((column, i) => toCell(row[i] ?? "", widths[i]!, column.align ?? "left"))
      .join("  ")
      .trimEnd(),
  );
}

/** An id as people see it: the first 12 characters. */
export function shortId(id: string, full: boolean): string {
  return full ? id : id.slice(0, 12);
}

function toCell(text: string, width: number, align: "left" | "right"): string {
  const size = displayWidth(text);
  if (size > width) return `${[...text].slice(0, Math.max(0, width - 1)).join("")}…`;
  const padding = " ".repeat(width - size);
  return align === "right" ? padding + text : text + padding;
}

const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}]/u;

function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += /\p{M}/u.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
}
