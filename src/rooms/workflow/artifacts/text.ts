import { decodeUtf8, findIllFormed } from "../../../core/canonical/index.ts";
import type { ArtifactFinding } from "./finding.ts";

/** The lines of a text artifact: BOM and one trailing CR per line dropped; a final LF starts no line. */
interface TextLines {
  readonly lines: readonly string[];
  readonly error: ArtifactFinding | null;
}

/** Reads a text artifact strictly as UTF-8. Cost: one pass. */
export function readLines(bytes: Uint8Array | string, file: string): TextLines {
  const text = typeof bytes === "string" ? bytes : decodeUtf8(bytes);
  if (text === null) return { lines: [], error: notUtf8(bytes as Uint8Array, file) };
  const lines = (text.startsWith("\ufeff") ? text.slice(1) : text).split("\n");
  if (lines.at(-1) === "") lines.pop();
  return { lines: lines.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line)), error: null };
}

function notUtf8(bytes: Uint8Array, file: string): ArtifactFinding {
  const offset = findIllFormed(bytes);
  let line = 1;
  for (let i = 0; i < offset; i++) if (bytes[i] === 0x0a) line++;
  return {
    code: "TEXT_NOT_UTF8",
    file,
    line,
    message: `byte ${offset} is not part of a UTF-8 character`,
    fix: "Save the file as UTF-8.",
  };
}

/** Whether a line has only spaces and TABs. */
export function isBlank(line: string): boolean {
  return /^[ \t]*$/.test(line);
}

/** A line without the spaces and TABs at its end. A pattern for this would take quadratic time on long runs of blanks. */
export function trimBlankEnd(line: string): string {
  let end = line.length;
  while (end > 0 && (line[end - 1] === " " || line[end - 1] === "\t")) end--;
  return end === line.length ? line : line.slice(0, end);
}

/** Whether a text says nothing at all. */
export function isBlankText(text: string): boolean {
  return /^\s*$/.test(text);
}

/** A positive integer as key lines write it, or null. */
export function parsePosint(text: string): number | null {
  if (!/^[1-9][0-9]{0,15}$/.test(text)) return null;
  const value = Number(text);
  return value <= Number.MAX_SAFE_INTEGER ? value : null;
}

/** The most iterations a run can ask for. */
export const MOST_ITERATIONS = 100;

/** Tells which lines belong to code fences; the lines that open and close one belong to it. */
export class Fences {
  #open: { readonly mark: string; readonly length: number } | null = null;

  /** Whether the next line is part of a fence. */
  covers(line: string): boolean {
    const match = /^ {0,3}(`{3,}|~{3,})(.*)$/s.exec(line);
    if (this.#open === null) {
      if (match === null || (match[1]!.startsWith("`") && match[2]!.includes("`"))) return false;
      this.#open = { mark: match[1]![0]!, length: match[1]!.length };
      return true;
    }
    const { mark, length } = this.#open;
    const closes = match !== null && match[1]!.startsWith(mark) && match[1]!.length >= length && isBlank(match[2]!);
    if (closes) this.#open = null;
    return true;
  }
}

/** Splits an inline list at commas, semicolons and bars; empty items are dropped. */
export function splitList(value: string): string[] {
  return value
    .split(/[,;|]/)
    .map((item) => trimBlankEnd(item.replace(/^[ \t]+/, "")))
    .filter((item) => item !== "")
    .map(unquote);
}

/** Removes one matching pair of backticks or quotes around an item. */
export function unquote(item: string): string {
  const first = item[0];
  return item.length >= 2 && (first === "`" || first === '"' || first === "'") && item.endsWith(first)
    ? item.slice(1, -1)
    : item;
}
