import { utf8Length } from "../../../core/canonical/index.ts";
import { cutLines, toLines } from "../../../core/text/index.ts";

/** The longest prefix of whole code points that costs at most `most` bytes of UTF-8. */
export function cutToBytes(text: string, most: number): { readonly text: string; readonly bytes: number } {
  let bytes = 0;
  let end = 0;
  while (end < text.length) {
    const point = text.codePointAt(end)!;
    const cost = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    if (bytes + cost > most) break;
    bytes += cost;
    end += point < 0x10000 ? 1 : 2;
  }
  return { text: text.slice(0, end), bytes };
}

/** The blocks of the ranges in request order, joined by one LF; each ends before the LF that ends its last line. */
export function cutSnippets(text: string, ranges: readonly (readonly [number, number])[]): string {
  const lines = toLines(text);
  const count = lines.starts.length - 1;
  const clamp = (line: number) => Math.min(Math.max(line, 1), count);
  return ranges
    .map(([first, last]) => {
      const block = cutLines(lines, clamp(first) - 1, clamp(last));
      return block.endsWith("\n") ? block.slice(0, -1) : block;
    })
    .join("\n");
}

/** What a text costs in a pack. */
export function priceOf(text: string): number {
  return utf8Length(text);
}
