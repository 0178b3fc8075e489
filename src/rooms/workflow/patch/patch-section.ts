import { encodeUtf8 } from "../../../core/canonical/index.ts";
import { toByteText } from "./patch-lines.ts";
import { dropPrefix, type Platform, readPlainName, readQuoted, toPath } from "./patch-names.ts";
import { refuseParse, refusePolicy } from "./rejection.ts";

export type PatchOperation = "modify" | "create" | "delete" | "rename" | "copy";

/** One file section of an accepted parse. */
export interface PatchSection {
  readonly operation: PatchOperation;
  /** The side before the patch; equal to `new_path` unless renamed or copied. */
  readonly old_path: string;
  readonly new_path: string;
  readonly old_mode: string | null;
  readonly new_mode: string | null;
  /** The mode an index line gives for a file whose mode does not change. */
  readonly index_mode: string | null;
  readonly added: number;
  readonly deleted: number;
  /** Line of the `diff --git` header. */
  readonly line: number;
}

/** What the extended header lines of a section say, and where. */
export class ExtendedLines {
  readonly #seen = new Map<string, { readonly value: string; readonly line: number }>();
  readonly #platform: Platform;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /** Takes a line if it is an extended header line; false when it is something else. */
  take(text: string, line: number): boolean {
    const kind = KINDS.find((one) => text.startsWith(`${one} `));
    if (kind === undefined) return false;
    if (text.endsWith("\r")) refuseParse("crlf_header", line);
    if (this.#seen.has(kind)) refuseParse("duplicate_header_line", line);
    this.#seen.set(kind, { value: this.#read(kind, text.slice(kind.length + 1), line), line });
    return true;
  }

  get(kind: Kind): string | null {
    return this.#seen.get(kind)?.value ?? null;
  }

  line(kind: Kind): number {
    return this.#seen.get(kind)!.line;
  }

  #read(kind: Kind, value: string, line: number): string {
    switch (kind) {
      case "old mode":
      case "new mode":
      case "deleted file mode":
      case "new file mode":
        return readMode(value, line);
      case "rename from":
      case "rename to":
      case "copy from":
      case "copy to":
        return readPlainName(value, line, this.#platform);
      case "similarity index":
      case "dissimilarity index":
        if (!/^(?:100|[0-9]{1,2})%$/.test(value)) refuseParse("unknown_header_line", line);
        return value;
      default: {
        const match = /^[0-9a-fA-F]+\.\.[0-9a-fA-F]+(?: (.*))?$/s.exec(value);
        if (match === null) return refuseParse("unknown_header_line", line);
        return match[1] === undefined ? "" : readMode(match[1], line);
      }
    }
  }
}

const KINDS = [
  "old mode",
  "new mode",
  "deleted file mode",
  "new file mode",
  "rename from",
  "rename to",
  "copy from",
  "copy to",
  "similarity index",
  "dissimilarity index",
  "index",
] as const;
type Kind = (typeof KINDS)[number];

function readMode(value: string, line: number): string {
  if (value === "100644" || value === "100755") return value;
  if (/^[0-7]{6}$/.test(value)) refusePolicy("mode", line);
  return refuseParse("mode", line);
}

export interface HeaderNames {
  readonly old: string;
  readonly new: string;
}

/** The two names of a `diff --git` line. `known` are the names of rename or copy lines. */
export function readHeaderOperands(
  text: string,
  line: number,
  known: HeaderNames | null,
  hasBody: boolean,
  platform: Platform,
): HeaderNames {
  const split = splitOperands(text, line, known);
  if (split === null) return refuseParse(known !== null || hasBody ? "header_mismatch" : "bad_header", line);
  const old = dropPrefix(split.old, "a/", line);
  const next = dropPrefix(split.new, "b/", line);
  const wanted =
    known === null
      ? { old, new: old }
      : { old: toByteText(encodeUtf8(known.old)), new: toByteText(encodeUtf8(known.new)) };
  if (old !== wanted.old || next !== wanted.new) refuseParse("header_mismatch", line);
  return { old: toPath(old, line, platform), new: toPath(next, line, platform) };
}

function splitOperands(text: string, line: number, known: HeaderNames | null): HeaderNames | null {
  if (text.startsWith('"')) {
    const first = readQuoted(text, 0) ?? refuseParse("bad_quote", line);
    if (text[first.end] !== " ") return null;
    const rest = text.slice(first.end + 1);
    return { old: first.name, new: rest.startsWith('"') ? readLast(rest, line) : refuseQuote(rest, line) };
  }
  if (text.endsWith('"')) {
    const at = text.indexOf(' "');
    if (at === -1) return refuseParse("bad_quote", line);
    return { old: refuseQuote(text.slice(0, at), line), new: readLast(text.slice(at + 1), line) };
  }
  refuseQuote(text, line);
  if (known !== null) return splitKnown(text, known);
  const middle = (text.length - 1) / 2;
  return text.length % 2 === 1 && text[middle] === " "
    ? { old: text.slice(0, middle), new: text.slice(middle + 1) }
    : null;
}

function readLast(text: string, line: number): string {
  const quoted = readQuoted(text, 0);
  if (quoted === null || quoted.end !== text.length) return refuseParse("bad_quote", line);
  return quoted.name;
}

function refuseQuote(text: string, line: number): string {
  if (text.includes('"')) refuseParse("bad_quote", line);
  return text;
}

// With rename or copy the raw text must be exactly those two names: no other split can be meant.
function splitKnown(text: string, known: HeaderNames): HeaderNames | null {
  const [old, next] = [`a/${toByteText(encodeUtf8(known.old))}`, `b/${toByteText(encodeUtf8(known.new))}`];
  return text === `${old} ${next}` ? { old, new: next } : null;
}
