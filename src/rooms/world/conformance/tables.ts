import { given } from "../../../core/conformance-input.ts";
import type { SyncCrypto } from "../../../core/ports.ts";
import type { LedgerEntry } from "../contracts/context.ts";
import { toLines, toNumbers } from "../people/audience.ts";
import type { Cast } from "../people/cast.ts";
import type { EntryRange, EntryRow, ShownRow, WorldReader } from "../ports.ts";
import type { VisibleWorld } from "../projection/reading.ts";
import { toPostings } from "../retrieval/postings.ts";
import type { SearchTables } from "../retrieval/world-search.ts";
import { parseInstant } from "../time/instant.ts";

type Tables = SearchTables & Pick<WorldReader, "range" | "visible" | "entriesById">;

/** The entries of a vector as the product reads those of a world: the same functions run, on rows at hand. */
export function openVector(
  crypto: SyncCrypto,
  cast: Cast,
  entries: readonly LedgerEntry[],
): { readonly world: VisibleWorld; readonly tables: Tables } {
  const people = [...cast.people.keys()].map((person_id, i) => ({
    person_id,
    display_name: cast.people.get(person_id)!,
    number: i + 1,
  }));
  const numbers = toNumbers(cast, people);
  const rows = entries.map(toRow).sort((a, b) => a.created_ms - b.created_ms || a.wseq - b.wseq);
  const postings = toPostings(toLines(crypto, numbers, rows).indexed);
  const end = Math.max(0, ...rows.map(({ wseq }) => wseq)) + 1;
  const inRange = ({ after, before, limit, newest }: EntryRange): ShownRow[] => {
    const found = rows.filter(({ wseq }) => wseq > after && wseq < before);
    return newest ? found.slice(-limit) : found.slice(0, limit);
  };
  return {
    world: { number: 1, state: { next_wseq: end }, cast, numbers },
    tables: {
      range: async (_, range) => inRange(range),
      // The product asks the gate about every row that a store proposes; this one proposes them all.
      visible: async (_, __, range) => inRange(range),
      entries: async (_, wseqs) => rows.filter(({ wseq }) => wseqs.includes(wseq)),
      entriesById: async (_, ids) => rows.filter(({ entry_id }) => ids.includes(entry_id)),
      firstAt: async (_, ms) => rows.find(({ created_ms }) => created_ms >= ms)?.wseq ?? end,
      recentTerms: async () => [],
      postings: async (_, keys, from, to) =>
        postings.filter(({ key, block }) => keys.includes(key) && block >= from && block <= to),
      newestPostings: async (_, key, below, limit) =>
        postings
          .filter((row) => row.key === key && row.block < below)
          .reverse()
          .slice(0, limit),
      scanPostings: async () => postings,
    },
  };
}

function toRow(entry: LedgerEntry): EntryRow {
  const { author, visibility, created_at_world, ...rest } = entry;
  return given<EntryRow>({
    ...rest,
    ...author,
    created_at: created_at_world,
    created_ms: parseInstant(created_at_world, "/created_at_world"),
    scope: visibility.scope,
    audience: JSON.stringify(visibility.visible_to),
  });
}
