import { utf8Length } from "../../../core/canonical/index.ts";
import type { LedgerEntry } from "../contracts/context.ts";
import type { RetrievalResult, RetrievalResultPack } from "../contracts/packs.ts";
import type { Graphemes } from "../ports.ts";
import { parseInstant } from "../time/instant.ts";
import { type ExcerptSize, GET_EXCERPT, SEARCH_EXCERPT, toExcerpt } from "./excerpt.ts";

/** Visible matches that are ranked at most; the newest. */
export const MAX_RANKED = 50_000;
export const PACK_BYTES = 8192;

const OLDER_NOTE = "Older lines were not searched; give a time window.";
const MORE_NOTE = "More lines match; narrow the query.";

export interface SearchQuery {
  readonly query_text: string;
  readonly limit: number;
  readonly person_id: string | null;
  readonly from: number | null;
  readonly to: number | null;
  /** Only what comes after this line in the order of the answer. */
  readonly after?: number;
}

/** Whether a query asks for anything at all. */
export function asksNothing(query: SearchQuery, terms: readonly string[]): boolean {
  return terms.length === 0 && query.person_id === null && query.from === null && query.to === null;
}

/** Whether an entry is by the author and in the window that were asked for. */
export function passes(
  { person_id, from, to }: Pick<SearchQuery, "person_id" | "from" | "to">,
  entry: LedgerEntry,
): boolean {
  if (person_id !== null && entry.author.author_id !== person_id) return false;
  const ms = parseInstant(entry.created_at_world, "");
  return (from === null || ms >= from) && (to === null || ms <= to);
}

interface PackHead {
  readonly tool_request_id: string;
  readonly request_id: string;
}

/** Quotes matches in order while their excerpts fit. */
export function toSearchPack(
  graphemes: Graphemes,
  head: PackHead,
  terms: readonly string[],
  matches: readonly LedgerEntry[],
  options: { readonly cut: boolean; readonly max_bytes?: number },
): RetrievalResultPack {
  const { results, full } = quote(graphemes, matches, SEARCH_EXCERPT, options.max_bytes ?? PACK_BYTES, new Set(terms));
  const notes = options.cut ? OLDER_NOTE : full ? MORE_NOTE : null;
  return { ...head, results, empty: results.length === 0, notes };
}

/** Quotes entries that were asked for by id. */
export function toGetPack(
  graphemes: Graphemes,
  head: PackHead,
  entries: readonly LedgerEntry[],
  maxBytes: number = PACK_BYTES,
): RetrievalResultPack {
  const { results, full } = quote(graphemes, entries, GET_EXCERPT, maxBytes, new Set());
  return { ...head, results, empty: results.length === 0, notes: full ? MORE_NOTE : null };
}

function quote(
  graphemes: Graphemes,
  entries: readonly LedgerEntry[],
  size: ExcerptSize,
  maxBytes: number,
  terms: ReadonlySet<string>,
): { readonly results: readonly RetrievalResult[]; readonly full: boolean } {
  const results: RetrievalResult[] = [];
  let bytes = 0;
  for (const entry of entries) {
    const excerpt = toExcerpt(graphemes, entry.text, size, terms);
    bytes += utf8Length(excerpt);
    if (bytes > maxBytes) return { results, full: true };
    results.push({
      entry_id: entry.entry_id,
      bundle_id: entry.bundle_id,
      created_at_world: entry.created_at_world,
      visibility_scope: entry.visibility.scope,
      verbatim_excerpt: excerpt,
    });
  }
  return { results, full: false };
}

/** Ids asked for by LEDGER_GET: separated by white space, in order, once each. */
export function readAskedIds(queryText: string): string[] {
  return [...new Set(queryText.split(/\s+/).filter((id) => id !== ""))];
}

/** Cuts a pack from its end until its excerpts fit. */
export function cutPack(pack: RetrievalResultPack, maxBytes: number): RetrievalResultPack {
  let bytes = 0;
  let keep = 0;
  for (const { verbatim_excerpt: excerpt } of pack.results) {
    bytes += utf8Length(excerpt);
    if (bytes > maxBytes) break;
    keep++;
  }
  if (keep === pack.results.length) return pack;
  return { ...pack, results: pack.results.slice(0, keep), empty: keep === 0, notes: pack.notes ?? MORE_NOTE };
}

/** UTF-8 bytes of the excerpts of a pack. */
export function packBytes(pack: RetrievalResultPack): number {
  return pack.results.reduce((sum, { verbatim_excerpt: excerpt }) => sum + utf8Length(excerpt), 0);
}
