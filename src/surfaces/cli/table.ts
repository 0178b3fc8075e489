import { showLine } from "../../core/text/index.ts";
import { cutText, displayWidth } from "./display-width.ts";

/** A column: its heading, and whether it may be shortened when the terminal is narrow. */
interface Column {
  readonly title: string;
  readonly align?: "left" | "right";
  readonly shrink?: boolean;
}

const NARROWEST = 8;

/** Lines of a table that fits the width; only columns that may shrink are cut, the widest first, with an ellipsis. */
export function formatTable(columns: readonly Column[], rows: readonly (readonly string[])[], width: number): string[] {
  const all = [columns.map(({ title }) => title), ...rows.map((row) => row.map(showLine))];
  const widths = columns.map((_, i) => all.reduce((most, row) => Math.max(most, displayWidth(row[i] ?? "")), 0));
  const gaps = 2 * (columns.length - 1);
  shrink(columns, widths, widths.reduce((sum, one) => sum + one, gaps) - width);
  return all.map((row) =>
    columns
      .map((column, i) => toCell(row[i] ?? "", widths[i]!, column.align ?? "left"))
      .join("  ")
      .trimEnd(),
  );
}

/** Takes the excess from the widest columns that may shrink, so that a short one, often a name, stays whole. */
function shrink(columns: readonly Column[], widths: number[], excess: number): void {
  const sizes = columns.flatMap((column, i) => (column.shrink === true ? [widths[i]!] : [])).sort((a, b) => b - a);
  let left = excess;
  let most = sizes[0] ?? 0;
  for (let cut = 0; cut < sizes.length && left > 0; cut++) {
    // The columns 0..cut are equally wide now; they go on together down to the next one.
    const floor = Math.max(NARROWEST, sizes[cut + 1] ?? 0);
    const each = Math.min(Math.max(0, most - floor), Math.ceil(left / (cut + 1)));
    most -= each;
    left -= each * (cut + 1);
  }
  for (const [i, column] of columns.entries()) if (column.shrink === true) widths[i] = Math.min(widths[i]!, most);
}

/** An id as people see it: the first 12 characters. */
export function shortId(id: string, full: boolean): string {
  return full ? id : id.slice(0, 12);
}

function toCell(text: string, width: number, align: "left" | "right"): string {
  const size = displayWidth(text);
  if (size > width) return toCell(`${cutText(text, width - 1)}…`, width, align);
  const padding = " ".repeat(width - size);
  return align === "right" ? padding + text : text + padding;
}
