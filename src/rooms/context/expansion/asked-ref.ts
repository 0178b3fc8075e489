import { codePointLength, isHash } from "../../../core/canonical/index.ts";
import { cutLines, type LineText, splitSlice } from "../../../core/text/index.ts";
import { isShortId } from "../symbols/short-id.ts";
import type { Target } from "../symbols/symbol.ts";
import { parseSectionRef } from "./section-ref.ts";

/** What someone asked for by name: a symbol, a section by its id or the start of it, or a written address. */
export type AskedRef = { readonly slice: string | null } & (
  | { readonly kind: "symbol"; readonly symbol_id: string }
  | { readonly kind: "id"; readonly digits: string }
  | { readonly kind: "address"; readonly address: string; readonly target: Target }
);

/**
 * Reads a ref as people and models write it: `@CANON/RULES`, `0f3a...`, `docs/a.md`, `src/a.ts#Parser/parse`, each with a
 * slice of its own after a space where one is wanted. A space that belongs to a name that ends like a slice is `%20`.
 */
export function parseAskedRef(text: string): AskedRef {
  const space = text.lastIndexOf(" ");
  const hasSlice = space > 0 && splitSlice(text.slice(space + 1)) !== null;
  const ref = hasSlice ? text.slice(0, space) : text;
  const slice = hasSlice ? text.slice(space + 1) : null;
  if (ref.startsWith("@")) return { kind: "symbol", symbol_id: ref, slice };
  if (isHash(ref) || isShortId(ref)) return { kind: "id", digits: ref, slice };
  return { kind: "address", address: ref, target: parseSectionRef(ref), slice };
}

/** What an address gives when nobody says how much of it: at most this many lines and characters. */
export const DEFAULT_LINES = 80;
export const DEFAULT_CHARS = 6_000;

/**
 * The slice that an address without one has: the whole target where it is short, else its first lines, else its first
 * characters. What is recorded is this slice, so an expansion is bounded on its face like any other.
 */
export function defaultSlice(lines: LineText, first: number, last: number): string {
  const most = Math.min(last - first, DEFAULT_LINES);
  let count = 0;
  for (let chars = 0; count < most; count++) {
    const line = cutLines(lines, first + count, first + count + 1);
    // A line of more units than that has more characters than fit, and is not counted through.
    chars += line.length > 2 * DEFAULT_CHARS ? line.length : codePointLength(line);
    if (chars > DEFAULT_CHARS) break;
  }
  if (count > 0) return `lines[0:${count}]`;
  // An empty target has no valid slice; the one that is asked for then says so.
  return most === 0 ? "lines[0:1]" : `chars[0:${DEFAULT_CHARS}]`;
}
