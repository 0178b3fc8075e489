import { toJson } from "../../../core/canonical/index.ts";
import type { LedgerEntry } from "../contracts/context.ts";
import { checkRetrievalPack, type RetrievalResultPack } from "../contracts/packs.ts";
import type { View } from "../knowledge/gate.ts";
import type { WorldPorts } from "../operations/ports.ts";
import { authorKey, termKey, toFilter, visibleKey } from "../people/audience.ts";
import type { PostingRow, WorldReader } from "../ports.ts";
import { gated, type OpenWorld, type VisibleWorld } from "../projection/reading.ts";
import { BLOCK } from "./postings.ts";
import { asksNothing, MAX_RANKED, passes, readAskedIds, type SearchQuery, toGetPack, toSearchPack } from "./search.ts";
import { queryTerms } from "./terms.ts";
import { type IndexTables, TermsIndex } from "./terms-index.ts";

type Ports = Pick<WorldPorts, "crypto" | "graphemes" | "zones">;

/** The part of the tables that a search reads. */
export type SearchTables = Pick<WorldReader, "firstAt" | "entries"> & IndexTables;
type SearchedWorld = VisibleWorld & Pick<OpenWorld, "numbers">;

interface PackHead {
  readonly tool_request_id: string;
  readonly request_id: string;
}

/** LEDGER_SEARCH for a view: filters and gate first, then rank, then limit. */
export async function searchWorld(
  ports: Ports,
  tables: WorldReader,
  world: OpenWorld,
  view: View,
  query: SearchQuery,
  options: { readonly head: PackHead; readonly max_bytes: number },
): Promise<RetrievalResultPack> {
  const { terms, matches, cut } = await findMatches(ports, tables, world, view, query);
  const shown = matches.map(({ entry }) => entry);
  const pack = toSearchPack(ports.graphemes, options.head, terms, shown, { cut, max_bytes: options.max_bytes });
  return shown.length === 0 ? pack : handOut(ports, world, view, shown, pack);
}

/** An entry with the number of distinct query terms it holds. */
interface Match {
  readonly entry: LedgerEntry;
  readonly matched: number;
}

/** What a question finds for a view: by terms held, then newest first. */
export async function findMatches(
  ports: Pick<Ports, "crypto">,
  tables: SearchTables,
  world: SearchedWorld,
  view: View,
  query: SearchQuery,
): Promise<{ readonly terms: readonly string[]; readonly matches: readonly Match[]; readonly cut: boolean }> {
  const terms = queryTerms(query.query_text);
  const nothing = { terms, matches: [], cut: false };
  if (asksNothing(query, terms)) return nothing;
  const from = query.from === null ? 1 : await tables.firstAt(world.number, query.from);
  const to = query.to === null ? world.state.next_wseq : await tables.firstAt(world.number, query.to + 1);
  if (from >= to) return nothing;
  const index = await TermsIndex.open(tables, world.number);
  const counts = await countMatches(ports, index, world, view, query, terms, { from, to });
  const all = rank(counts, from);
  const { cut } = all;
  const ranked = query.after === undefined ? all.ranked : all.ranked.slice(all.ranked.indexOf(query.after) + 1);
  const matches: Match[] = [];
  // Entries are read again from the ledger's rows, and the gate decides; an index can only propose.
  for (let at = 0; at < ranked.length && matches.length < query.limit; at += query.limit) {
    const part = ranked.slice(at, at + query.limit);
    const found = new Map(gated(world, view, await tables.entries(world.number, part)).map((one) => [one.wseq, one]));
    for (const wseq of part) {
      const entry = found.get(wseq);
      // Without terms everything visible counts once; with terms a match counts one more than the terms it holds.
      if (entry !== undefined) matches.push({ entry, matched: Math.max(0, counts[wseq - from]! - 1) });
    }
  }
  return { terms, matches: matches.slice(0, query.limit), cut };
}

/** Judges a pack against the entries it quotes before anyone gets it. */
function handOut(
  { graphemes, zones }: Ports,
  { cast }: OpenWorld,
  view: View,
  entries: readonly LedgerEntry[],
  pack: RetrievalResultPack,
): RetrievalResultPack {
  const known = new Map(entries.map((entry) => [entry.entry_id, entry]));
  return checkRetrievalPack(toJson(pack), { cast, view, zones, graphemes, entries: known });
}

/** LEDGER_GET for a view: the visible ones of the asked ids in the asked order, of an author and in a window if so asked. */
export async function getEntries(
  ports: Ports,
  tables: WorldReader,
  world: OpenWorld,
  view: View,
  query: SearchQuery,
  options: { readonly head: PackHead; readonly max_bytes: number },
): Promise<RetrievalResultPack> {
  const ids = readAskedIds(query.query_text);
  const found = new Map(
    gated(world, view, await tables.entriesById(world.number, ids)).map((entry) => [entry.entry_id, entry]),
  );
  const asked = ids.flatMap((id) => found.get(id) ?? []);
  const entries = asked.filter((entry) => passes(query, entry)).slice(0, query.limit);
  const pack = toGetPack(ports.graphemes, options.head, entries, options.max_bytes);
  return handOut(ports, world, view, entries, pack);
}

interface Range {
  readonly from: number;
  /** One past the last. */
  readonly to: number;
}

const MAX_BLOCKS = 16;

/**
 * Numbers, not below `from`, of the visible entries of a view by one author, newest first, a block at a time. Only
 * blocks in which the author wrote are looked at, and whoever needs few lines stops early, so a long world costs no more.
 */
export async function* findByAuthor(
  index: TermsIndex,
  world: OpenWorld,
  view: View,
  author: string,
  from = 0,
): AsyncGenerator<readonly number[]> {
  const key = authorKey(world.numbers.get(author) ?? -1);
  const end = world.state.next_wseq;
  let below = Math.floor(end / BLOCK) + 1;
  for (let blocks = 2; ; blocks = Math.min(blocks * 2, MAX_BLOCKS)) {
    const rows = await index.newest(key, below, blocks);
    for (const { block, lows } of rows) {
      const range = { from: Math.max(block * BLOCK, from), to: Math.min((block + 1) * BLOCK, end) };
      if (range.to <= range.from) return;
      const wrote = Array.from(lows, (low) => block * BLOCK + low - range.from).filter((i) => i >= 0);
      if (wrote.length === 0) continue;
      const seen = await readVisibleSet(index, world, view, range);
      const found = wrote.filter((i) => seen[i] === 1).map((i) => range.from + i);
      if (found.length > 0) yield found.reverse();
    }
    if (rows.length < blocks) return;
    below = rows.at(-1)!.block;
  }
}

/** Per visible entry of the range one more than the number of distinct query terms it holds; 0 for what is not a match. */
async function countMatches(
  ports: Pick<Ports, "crypto">,
  index: TermsIndex,
  world: SearchedWorld,
  view: View,
  query: SearchQuery,
  terms: readonly string[],
  range: Range,
): Promise<Uint8Array> {
  const visible = await readVisibleSet(index, world, view, range);
  if (query.person_id !== null) {
    const author = authorKey(world.numbers.get(query.person_id) ?? -1);
    keepOnly(visible, await readList(index, author, range), range.from);
  }
  if (terms.length === 0) return visible;
  const counts = new Uint8Array(visible.length);
  const keys = terms.map((term) => termKey(ports.crypto, term));
  forEachPosting(await readLists(index, keys, range), range, (i) => {
    counts[i]!++;
  });
  for (let i = 0; i < counts.length; i++) counts[i] = visible[i] === 1 && counts[i]! > 0 ? counts[i]! + 1 : 0;
  return counts;
}

async function readVisibleSet(
  index: TermsIndex,
  world: Pick<OpenWorld, "numbers">,
  view: View,
  range: Range,
): Promise<Uint8Array> {
  const { any, all } = toFilter(world.numbers, view);
  const seen = new Uint8Array(range.to - range.from);
  forEachPosting(await readLists(index, any.map(visibleKey), range), range, (i) => {
    seen[i] = 1;
  });
  if (all.length > 0) {
    const together = new Uint16Array(seen.length);
    forEachPosting(await readLists(index, all.map(visibleKey), range), range, (i) => {
      together[i]!++;
    });
    for (let i = 0; i < seen.length; i++) if (together[i] === all.length) seen[i] = 1;
  }
  return seen;
}

function readLists(index: TermsIndex, keys: readonly string[], { from, to }: Range) {
  return index.lists(keys, Math.floor(from / BLOCK), Math.floor((to - 1) / BLOCK));
}

async function readList(index: TermsIndex, key: string, range: Range): Promise<Set<number>> {
  const found = new Set<number>();
  forEachPosting(await readLists(index, [key], range), range, (i) => found.add(range.from + i));
  return found;
}

function keepOnly(flags: Uint8Array, wanted: ReadonlySet<number>, from: number): void {
  for (let i = 0; i < flags.length; i++) if (!wanted.has(from + i)) flags[i] = 0;
}

function forEachPosting(rows: readonly PostingRow[], { from, to }: Range, visit: (index: number) => void): void {
  for (const { block, lows } of rows) {
    const base = block * BLOCK;
    for (let i = 0; i < lows.length; i++) {
      const wseq = base + lows[i]!;
      if (wseq >= from && wseq < to) visit(wseq - from);
    }
  }
}

/** Numbers by terms held, then newest first; only the newest matches are ranked. */
function rank(counts: Uint8Array, from: number): { readonly ranked: number[]; readonly cut: boolean } {
  const byCount: number[][] = [];
  let matches = 0;
  for (let i = counts.length - 1; i >= 0; i--) {
    const count = counts[i]!;
    if (count === 0) continue;
    if (++matches > MAX_RANKED) break;
    (byCount[count] ??= []).push(from + i);
  }
  return { ranked: byCount.reverse().flat(), cut: matches > MAX_RANKED };
}
