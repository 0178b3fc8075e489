import { LINES_A_TURN, runWhole, type Turns } from "./turns.ts";

/** The lines of a patch as byte ranges. Content is never decoded: CR and every other byte stay what they are. */
export class PatchLines {
  readonly bytes: Uint8Array;
  /** Offset of each line's first byte, then the length of the whole. */
  readonly #starts: readonly number[];

  constructor(bytes: Uint8Array, starts: readonly number[] = runWhole(findStarts(bytes))) {
    this.bytes = bytes;
    this.#starts = starts;
  }

  /** The same in turns. */
  static *inTurns(bytes: Uint8Array): Turns<PatchLines> {
    return new PatchLines(bytes, yield* findStarts(bytes));
  }

  get count(): number {
    return this.#starts.length - 1;
  }

  /** The line's first byte, or -1 for an empty line or one that does not exist. */
  first(index: number): number {
    const start = this.#starts[index]!;
    const byte = index < this.count ? this.bytes[start] : undefined;
    return byte === undefined || byte === 0x0a ? -1 : byte;
  }

  /** Whether a line begins with an ASCII text. */
  startsWith(index: number, text: string): boolean {
    if (index >= this.count) return false;
    const start = this.#starts[index]!;
    if (this.#starts[index + 1]! - start < text.length) return false;
    for (let i = 0; i < text.length; i++) if (this.bytes[start + i] !== text.charCodeAt(i)) return false;
    return true;
  }

  /** A line without its line feed as a text of bytes: one character per byte. */
  text(index: number): string {
    const start = this.#starts[index]!;
    const end = this.#starts[index + 1]!;
    return toByteText(this.bytes.subarray(start, this.bytes[end - 1] === 0x0a ? end - 1 : end));
  }

  /** The bytes of some lines, their line feeds included. */
  slice(from: number, to: number): Uint8Array {
    return this.bytes.subarray(this.#starts[from], this.#starts[to]);
  }

  /** Whether a line has nothing, or only a CR. */
  isEmpty(index: number): boolean {
    const start = this.#starts[index]!;
    const length = this.#starts[index + 1]! - start;
    const first = this.bytes[start];
    return first === 0x0a || (first === 0x0d && (length === 1 || (length === 2 && this.bytes[start + 1] === 0x0a)));
  }

  /** The line number (from 1) of a byte. */
  lineOf(offset: number): number {
    let line = 0;
    while (line < this.count && this.#starts[line + 1]! <= offset) line++;
    return line + 1;
  }
}

function* findStarts(bytes: Uint8Array): Turns<number[]> {
  const starts: number[] = [];
  let at = 0;
  while (at < bytes.length) {
    if (starts.push(at) % LINES_A_TURN === 0) yield;
    const end = bytes.indexOf(0x0a, at);
    if (end === -1) break;
    at = end + 1;
  }
  starts.push(bytes.length);
  return starts;
}

const CHUNK = 8192;

/** Bytes as a string of characters U+0000 to U+00FF. */
export function toByteText(bytes: Uint8Array): string {
  if (bytes.length <= CHUNK) return String.fromCharCode(...bytes);
  let text = "";
  for (let at = 0; at < bytes.length; at += CHUNK) text += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return text;
}

/** The bytes of such a string. */
export function fromByteText(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}
