import { codePointLength, encodeUtf8 } from "../../../core/canonical/index.ts";
import { cutLines, type LineText } from "../../../core/text/index.ts";
import type { Section } from "../contracts/index.ts";

/** A glance at a result: the exact bytes that its slice of the result's section means. Never recorded. */
export interface Preview {
  readonly slice: string;
  readonly text: string;
}

/** Bytes of one preview, and of all previews of an answer. */
const PREVIEW_BYTES = 200;
const ANSWER_BYTES = 2000;

/** Code points of a long line that are shown before the match. */
const LEAD = 24;
const BLANK = /^\s*$/;

/**
 * One or two whole lines from line `first` of the section on, the first of them not blank; of a line that is too long the
 * part around `at`, a place among its UTF-16 units, cut between characters. Null where there is nothing to show.
 */
export function makePreview(lines: LineText, section: Section, first: number, at: number): Preview | null {
  const { line_start, line_end } = section;
  const lineOf = (n: number) => cutLines(lines, line_start + n, line_start + n + 1).replace(/\n$/, "");
  const count = line_end - line_start;
  let n = first;
  while (n < count && BLANK.test(lineOf(n))) n++;
  if (n === count) return null;
  const line = lineOf(n);
  if (bytesOf(line) > PREVIEW_BYTES) return cutLine(lines, section, n, line, n === first ? at : 0);
  const next = n + 1 < count ? lineOf(n + 1) : "";
  const both = `${line}\n${next}`;
  const isPair = !BLANK.test(next) && bytesOf(both) <= PREVIEW_BYTES;
  return { slice: `lines[${n}:${n + (isPair ? 2 : 1)}]`, text: isPair ? both : line };
}

function cutLine(lines: LineText, { line_start }: Section, n: number, line: string, at: number): Preview {
  const begin = retreat(line, at, LEAD);
  let end = begin;
  for (let bytes = 0; end < line.length; ) {
    const character = String.fromCodePoint(line.codePointAt(end)!);
    bytes += bytesOf(character);
    if (bytes > PREVIEW_BYTES) break;
    end += character.length;
  }
  const before = cutLines(lines, line_start, line_start + n);
  const from = codePointLength(before) + codePointLength(line.slice(0, begin));
  const text = line.slice(begin, end);
  return { slice: `chars[${from}:${from + codePointLength(text)}]`, text };
}

/** The place so many code points before another; never inside one. */
function retreat(line: string, at: number, count: number): number {
  let place = at;
  for (let i = 0; i < count && place > 0; i++) place -= isLowHalf(line, place - 1) ? 2 : 1;
  return isLowHalf(line, place) ? place - 1 : place;
}

function isLowHalf(line: string, at: number): boolean {
  const unit = line.charCodeAt(at);
  return at > 0 && unit >= 0xdc00 && unit <= 0xdfff;
}

function bytesOf(text: string): number {
  return encodeUtf8(text).length;
}

/** The previews of an answer in their order; one that no longer fits into what all of them may take is left out. */
export class PreviewMeter {
  #left = ANSWER_BYTES;

  take(preview: Preview | null): Preview | null {
    const bytes = preview === null ? 0 : bytesOf(preview.text);
    if (bytes > this.#left) return null;
    this.#left -= bytes;
    return preview;
  }
}
