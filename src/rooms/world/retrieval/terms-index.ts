import { concatBytes } from "../../../core/canonical/index.ts";
import type { Awaitable } from "../../../core/ports.ts";
import type { PostingRow, RecentTermsRow, WorldReader, WorldWriter } from "../ports.ts";
import { BLOCK, type IndexedEntry, RecentTerms, toPostings, toRecentRow } from "./postings.ts";

/** A commit with more keys than this is not put off: what is put off must stay small enough to be done at once. */
const MANY_KEYS = 256;

/**
 * Adds entries to the index of a world. A line has many terms, and their posting lists lie far apart: the keys of the
 * newest lines wait in one row per commit, which the caller writes, and a full block of lines goes into the lists.
 */
export function indexEntries(
  tables: WorldWriter,
  world: number,
  entries: readonly IndexedEntry[],
): Awaitable<RecentTermsRow | null> {
  const last = entries.at(-1);
  if (last === undefined) return null;
  const end = last.wseq + 1;
  const settled = hasMany(entries) ? end : end - (end % BLOCK);
  const waiting = entries.filter(({ wseq }) => wseq >= settled);
  const recent = waiting.length === 0 ? null : toRecentRow(waiting);
  if (waiting.length === entries.length) return recent;
  return settle(tables, world, entries.slice(0, entries.length - waiting.length)).then(() => recent);
}

function hasMany(entries: readonly IndexedEntry[]): boolean {
  let keys = 0;
  for (const entry of entries) keys += entry.keys.length;
  return keys > MANY_KEYS;
}

/** Moves what waits, and these entries behind it, into the posting lists. */
async function settle(tables: WorldWriter, world: number, entries: readonly IndexedEntry[]): Promise<void> {
  // What an ancestor's lines wait for is not this world's to settle.
  const recent = new RecentTerms(await tables.ownRecentTerms(world));
  await tables.addPostings(world, toPostings([...recent.entries(), ...entries]));
  await tables.clearRecentTerms(world);
}

/** The part of the tables in which the index is kept. */
export type IndexTables = Pick<WorldReader, "recentTerms" | "postings" | "newestPostings" | "scanPostings">;

/** The index of a world as one transaction sees it. */
export class TermsIndex {
  readonly #tables: IndexTables;
  readonly #world: number;
  readonly #recent: RecentTerms;

  private constructor(tables: IndexTables, world: number, recent: RecentTerms) {
    this.#tables = tables;
    this.#world = world;
    this.#recent = recent;
  }

  static async open(tables: IndexTables, world: number): Promise<TermsIndex> {
    return new TermsIndex(tables, world, new RecentTerms(await tables.recentTerms(world)));
  }

  /** Parts of posting lists in a range of blocks, in no order; a block may come in two parts. */
  async lists(keys: readonly string[], fromBlock: number, toBlock: number): Promise<readonly PostingRow[]> {
    const rows = await this.#tables.postings(this.#world, keys, fromBlock, toBlock);
    for (const key of keys) {
      for (const row of this.#recent.find(key)) if (row.block >= fromBlock && row.block <= toBlock) rows.push(row);
    }
    return rows;
  }

  /** Parts of one posting list, each block whole, from the newest block below a block backwards. */
  async newest(key: string, below: number, limit: number): Promise<readonly PostingRow[]> {
    const rows = await this.#tables.newestPostings(this.#world, key, below, limit);
    const lists = new Map(rows.map((row) => [row.block, row]));
    // Lines of an ancestor may still wait when a fork has settled its own: only what lies above the lists that were not
    // read yet is in its place here.
    const oldest = rows.length < limit ? 0 : rows.at(-1)!.block;
    for (const row of this.#recent.find(key)) {
      if (row.block >= below || row.block < oldest) continue;
      const known = lists.get(row.block);
      lists.set(row.block, known === undefined ? row : join(known, row));
    }
    return [...lists.values()].sort((a, b) => b.block - a.block);
  }

  /** Every posting list whole, as `toPostings` would give them. */
  async all(): Promise<readonly PostingRow[]> {
    const rows = new Map<string, PostingRow>();
    for (const row of [...(await this.#tables.scanPostings(this.#world)), ...toPostings(this.#recent.entries())]) {
      const at = `${row.block} ${row.key}`;
      const known = rows.get(at);
      rows.set(at, known === undefined ? row : join(known, row));
    }
    return [...rows.values()];
  }
}

/** Two parts of one block, their places in order: those of a fork and of its ancestors lie in each other's way. */
function join(one: PostingRow, other: PostingRow): PostingRow {
  return { ...one, lows: concatBytes([one.lows, other.lows]).sort() };
}
