/**
 * A text with the offsets of its lines, computed once and cut often.
 * Lines are what LF separates: a final LF ends the last line and starts none; the empty text has 0 lines.
 */
export interface LineText {
  readonly text: string;
  /** Offset of the first character of every line, then the length of the text. */
  readonly starts: readonly number[];
}

/** Finds the lines of a text. Cost: one pass. */
export function toLines(text: string): LineText {
  const starts: number[] = [];
  let at = 0;
  while (at < text.length) {
    starts.push(at);
    const end = text.indexOf("\n", at);
    if (end === -1) break;
    at = end + 1;
  }
  starts.push(text.length);
  return { text, starts };
}

/** Number of lines. */
export function countLines(lines: LineText): number {
  return lines.starts.length - 1;
}

/** The exact text from the start of line `from` to the start of line `to`, terminators included as they are. */
export function cutLines(lines: LineText, from: number, to: number): string {
  return lines.text.slice(lines.starts[from], lines.starts[to]);
}
