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
  // Clusters before the match that may still lead it in, oldest first.
  const lead: { readonly at: number; readonly cluster: string; readonly bytes: number }[] = [];
  let leadBytes = 0;
  let taken: Taken | null = null;
  let at = 0;
  for (const cluster of graphemes.split(text)) {
    const bytes = utf8Length(cluster);
    if (taken === null && at + cluster.length <= match) {
      lead.push({ at, cluster, bytes });
      leadBytes += bytes;
      while (leadBytes > size.lead_bytes) leadBytes -= lead.shift()!.bytes;
    } else {
      if (taken === null) {
        taken = { from: lead[0]?.at ?? at, length: 0, bytes: 0, full: false };
        for (const one of lead) take(taken, one.cluster, one.bytes, size.max_bytes);
      }
      take(taken, cluster, bytes, size.max_bytes);
      if (taken.full) break;
    }
    at += cluster.length;
  }
  return taken === null ? "" : text.slice(taken.from, taken.from + taken.length);
}

interface Taken {
  readonly from: number;
  /** UTF-16 units and UTF-8 bytes taken so far. */
  length: number;
  bytes: number;
  full: boolean;
}

/** Takes a whole cluster while it fits; only one that comes first and could never fit is cut between code points. */
function take(taken: Taken, cluster: string, bytes: number, maxBytes: number): void {
  if (taken.full) return;
  if (taken.bytes + bytes <= maxBytes) {
    taken.length += cluster.length;
    taken.bytes += bytes;
    return;
  }
  if (taken.bytes === 0) taken.length += cutCodePoints(cluster, maxBytes);
  taken.full = true;
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
