import { utf8Length } from "../../../core/canonical/index.ts";
import type { Graphemes } from "../ports.ts";
import { findFirstTerm } from "./terms.ts";

export interface ExcerptSize {
  readonly max_bytes: number;
  /** Bytes at most before the first match. */
  readonly lead_bytes: number;
}

/** Search results, capsules. */
export const SEARCH_EXCERPT: ExcerptSize = { max_bytes: 800, lead_bytes: 200 };
/** LEDGER_GET. */
export const GET_EXCERPT: ExcerptSize = { max_bytes: 4096, lead_bytes: 0 };

const NO_TERMS: ReadonlySet<string> = new Set();

/**
 * An exact part of the text: all of it when it is short, else whole graphemes around the first of the terms.
 * Cost: linear in the text.
 */
export function toExcerpt(
  graphemes: Graphemes,
  text: string,
  size: ExcerptSize,
  terms: ReadonlySet<string> = NO_TERMS,
): string {
  if (text.length * 3 <= size.max_bytes || utf8Length(text) <= size.max_bytes) return text;
  const match = Math.max(findFirstTerm(text, terms), 0);
  let start = 0;
  let end = 0;
  let taken = 0;
  // Clusters before the match that may still lead it in: offsets and sizes, oldest first.
  const lead: { readonly at: number; readonly bytes: number }[] = [];
  let leadBytes = 0;
  let found = false;
  for (const cluster of graphemes.split(text)) {
    const bytes = utf8Length(cluster);
    if (!found && end + cluster.length <= match) {
      lead.push({ at: end, bytes });
      leadBytes += bytes;
      while (leadBytes > size.lead_bytes) leadBytes -= lead.shift()!.bytes;
      end += cluster.length;
      start = end;
      continue;
    }
    if (!found) {
      found = true;
      start = lead[0]?.at ?? end;
      taken = leadBytes;
    }
    if (taken + bytes > size.max_bytes) {
      if (bytes > size.max_bytes) end += cutCodePoints(cluster, size.max_bytes - taken);
      break;
    }
    taken += bytes;
    end += cluster.length;
  }
  return text.slice(start, end);
}

/** UTF-16 length of the code points at the start that fit. */
function cutCodePoints(text: string, maxBytes: number): number {
  let length = 0;
  let bytes = 0;
  for (const character of text) {
    bytes += utf8Length(character);
    if (bytes > maxBytes) break;
    length += character.length;
  }
  return length;
}
