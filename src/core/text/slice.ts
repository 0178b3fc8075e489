import { codePointLength } from "../canonical/index.ts";
import { VerbatimError } from "../errors/index.ts";
import { countLines, cutLines, type LineText, toLines } from "./lines.ts";
import { MAX_SLICE_LENGTH, SLICE_FORMS, type Slice, splitSlice } from "./slice-forms.ts";

/** Lines `first..last-1` of a text: a whole file, or a section of it. */
export interface SliceTarget {
  readonly lines: LineText;
  readonly first: number;
  readonly last: number;
}

const UNBOUNDED = /^[\t\n\v\f\r ]*all[\t\n\v\f\r ]*$/i;
const LAST_NUMBER = /[0-9]+(?=.$)/;
const FORMS = `Use ${SLICE_FORMS}.`;

/**
 * Parses a slice; throws SLICE_UNBOUNDED, SLICE_SYNTAX or SLICE_EMPTY, in this order of checks.
 *
 * @example
 * parseSlice("lines[0:10]"); // => { form: "lines", from: 0, to: 10 }
 * parseSlice("all"); // throws SLICE_UNBOUNDED
 */
export function parseSlice(text: string): Slice {
  if (UNBOUNDED.test(text)) {
    throw new VerbatimError("SLICE_UNBOUNDED", { message: `${show(text)} has no bounds. ${FORMS}` });
  }
  const parts = splitSlice(text);
  if (parts === null) {
    throw new VerbatimError("SLICE_SYNTAX", { message: `${show(text)} is not a slice. ${FORMS}` });
  }
  if ("n" in parts) {
    if (parts.n === "0") throw emptySlice(text);
    return { form: parts.form, count: toCount(parts.n) };
  }
  if (BigInt(parts.a) >= BigInt(parts.b)) throw emptySlice(text);
  return { form: parts.form, from: toCount(parts.a), to: toCount(parts.b) };
}

/**
 * Cuts a slice out of a whole text.
 *
 * @example
 * sliceText("one\ntwo\nthree\n", "lines[1:2]"); // => "two"
 * sliceText("one\ntwo\nthree\n", "lines[1:9]"); // throws SLICE_OUT_OF_BOUNDS
 */
export function sliceText(text: string, slice: string, label = "the target"): string {
  const lines = toLines(text);
  return applySlice({ lines, first: 0, last: countLines(lines) }, slice, label);
}

/** Cuts a slice out of a target, never clamped; beyond its size is SLICE_OUT_OF_BOUNDS with a suggestion. */
export function applySlice(target: SliceTarget, slice: string, label = "the target"): string {
  const parsed = parseSlice(slice);
  const total = target.last - target.first;
  switch (parsed.form) {
    case "lines":
      if (parsed.to > total) throw outOfBounds(target, slice, parsed, label);
      return joinLines(target, parsed.from, parsed.to);
    case "head":
      if (parsed.count > total) throw outOfBounds(target, slice, parsed, label);
      return joinLines(target, 0, parsed.count);
    case "tail":
      if (parsed.count > total) throw outOfBounds(target, slice, parsed, label);
      return joinLines(target, total - parsed.count, total);
    case "chars": {
      const text = cutLines(target.lines, target.first, target.last);
      const from = offsetOfCodePoint(text, 0, parsed.from);
      const to = from === -1 ? -1 : offsetOfCodePoint(text, from, parsed.to - parsed.from);
      if (to === -1) throw outOfBounds(target, slice, parsed, label);
      return text.slice(from, to);
    }
  }
}

/** Lines joined with LF, no terminator after the last: the text minus one final LF that ends its last line. */
function joinLines(target: SliceTarget, from: number, to: number): string {
  const text = cutLines(target.lines, target.first + from, target.first + to);
  return text.endsWith("\n") ? text.slice(0, -1) : text;
}

/** Offset after `count` code points from `start`, or -1 when the text ends before. */
function offsetOfCodePoint(text: string, start: number, count: number): number {
  if (count > text.length - start) return -1;
  let offset = start;
  for (let i = 0; i < count; i++) {
    if (offset >= text.length) return -1;
    const unit = text.charCodeAt(offset);
    offset += unit >= 0xd800 && unit <= 0xdbff ? 2 : 1;
  }
  return offset;
}

function outOfBounds(target: SliceTarget, slice: string, parsed: Slice, label: string): VerbatimError {
  const lines = target.last - target.first;
  const chars = codePointLength(cutLines(target.lines, target.first, target.last));
  const suggested = suggest(parsed, lines, chars);
  const unit = parsed.form === "chars" ? "character" : "line";
  const has = parsed.form === "chars" ? chars : lines;
  const advice = suggested === null ? "It is empty; nothing can be expanded from it." : `Use ${suggested}.`;
  return new VerbatimError("SLICE_OUT_OF_BOUNDS", {
    message: `${slice} asks for ${describeAsked(slice, parsed, unit)}, ${label} has ${has}. ${advice}`,
    fix: advice,
    details: { lines, chars, suggested_slice: suggested },
  });
}

/** How much a slice asks for, in the digits as they were written: they may be beyond every number. */
function describeAsked(slice: string, parsed: Slice, unit: string): string {
  const end = LAST_NUMBER.exec(slice)![0];
  if ("from" in parsed && parsed.from > 0) return `${unit}s up to ${end}`;
  return `${end} ${unit}${end === "1" ? "" : "s"}`;
}

function suggest(parsed: Slice, lines: number, chars: number): string | null {
  const size = parsed.form === "chars" ? chars : lines;
  if (size === 0) return null;
  if ("count" in parsed) return `${parsed.form}(${size})`;
  return `${parsed.form}[${parsed.from < size ? parsed.from : 0}:${size}]`;
}

// Beyond the safe range every number is out of bounds alike; `a < b` was compared exactly before.
function toCount(digits: string): number {
  return Math.min(Number(digits), Number.MAX_SAFE_INTEGER);
}

function emptySlice(text: string): VerbatimError {
  return new VerbatimError("SLICE_EMPTY", { message: `${show(text)} selects nothing. ${FORMS}` });
}

function show(text: string): string {
  return JSON.stringify(text.length > MAX_SLICE_LENGTH ? `${text.slice(0, MAX_SLICE_LENGTH)}…` : text);
}
