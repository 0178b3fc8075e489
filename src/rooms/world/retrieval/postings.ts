import type { PostingRow, RecentTermsRow } from "../ports.ts";

/** Entries whose numbers share one part of a posting list. */
export const BLOCK = 256;

/** An entry and the keys under which the index finds it, each once. */
export interface IndexedEntry {
  readonly wseq: number;
  readonly keys: readonly string[];
}

/** The posting lists of entries in ascending order: per block and key the low bytes of their numbers. */
export function toPostings(entries: Iterable<IndexedEntry>): PostingRow[] {
  const postings: PostingRow[] = [];
  let block = -1;
  let together: IndexedEntry[] = [];
  for (const entry of entries) {
    const at = Math.floor(entry.wseq / BLOCK);
    if (at !== block) {
      addPostings(postings, block, together);
      block = at;
      together = [];
    }
    together.push(entry);
  }
  addPostings(postings, block, together);
  return postings;
}

/** Adds the lists of one block. They are in one array, so that a list costs no array of its own while it grows. */
function addPostings(postings: PostingRow[], block: number, entries: readonly IndexedEntry[]): void {
  const numbers = new Map<string, number>();
  const keys: string[] = [];
  const lengths: number[] = [];
  // The list of every key of every entry, in order.
  const lists = new Uint32Array(entries.reduce((sum, entry) => sum + entry.keys.length, 0));
  let place = 0;
  for (const entry of entries) {
    for (const key of entry.keys) {
      let list = numbers.get(key);
      if (list === undefined) {
        list = keys.length;
        numbers.set(key, list);
        keys.push(key);
        lengths.push(0);
      }
      lengths[list]!++;
      lists[place++] = list;
    }
  }
  const ends = new Uint32Array(keys.length);
  for (let list = 1; list < keys.length; list++) ends[list] = ends[list - 1]! + lengths[list - 1]!;
  const lows = new Uint8Array(place);
  place = 0;
  for (const { wseq, keys: its } of entries) {
    for (let i = 0; i < its.length; i++) lows[ends[lists[place++]!]!++] = wseq % BLOCK;
  }
  // Neighbours in the table are written one after the other; which order exactly makes no difference.
  const order = keys.map((_, list) => list).sort((a, b) => (keys[a]! < keys[b]! ? -1 : 1));
  for (const list of order) {
    const from = ends[list]! - lengths[list]!;
    const own = lengths[list] === 1 ? ALONE[lows[from]!]! : lows.subarray(from, ends[list]);
    postings.push({ key: keys[list]!, block, lows: own });
  }
}

/** Most lists of a block hold one place; there are only so many of those. */
const ALONE: readonly Uint8Array[] = Array.from({ length: BLOCK }, (_, low) => Uint8Array.of(low));

/** Consecutive entries as one row: a space after each key, a line feed after each entry. */
export function toRecentRow(entries: readonly IndexedEntry[]): RecentTermsRow {
  let keys = "";
  for (const entry of entries) keys += `${entry.keys.join(" ")} \n`;
  return { wseq: entries[0]!.wseq, keys };
}

/** What the newest entries add to the index before it becomes part of the posting lists. */
export class RecentTerms {
  readonly #text: string;
  /** The number of each entry, and where its line ends in the text. */
  readonly #wseqs: number[] = [];
  readonly #ends: number[] = [];

  constructor(rows: readonly RecentTermsRow[]) {
    let text = "";
    for (const { wseq, keys } of rows) {
      let next = wseq;
      for (let at = keys.indexOf("\n"); at >= 0; at = keys.indexOf("\n", at + 1)) {
        this.#wseqs.push(next++);
        this.#ends.push(text.length + at + 1);
      }
      text += keys;
    }
    this.#text = text;
  }

  /** The entries with their keys. */
  *entries(): Generator<IndexedEntry> {
    let start = 0;
    for (const [i, end] of this.#ends.entries()) {
      yield { wseq: this.#wseqs[i]!, keys: this.#text.slice(start, end - 2).split(" ") };
      start = end;
    }
  }

  /** The posting list of a key, oldest block first. */
  find(key: string): PostingRow[] {
    const found: { block: number; lows: number[] }[] = [];
    // The colon of a key stands in no term, so a key is found nowhere but where it is one.
    const wanted = `${key} `;
    let line = 0;
    for (let at = this.#text.indexOf(wanted); at >= 0; at = this.#text.indexOf(wanted, at + wanted.length)) {
      while (this.#ends[line]! <= at) line++;
      const wseq = this.#wseqs[line]!;
      const block = Math.floor(wseq / BLOCK);
      if (found.at(-1)?.block !== block) found.push({ block, lows: [] });
      found.at(-1)!.lows.push(wseq % BLOCK);
    }
    return found.map(({ block, lows }) => ({ key, block, lows: Uint8Array.from(lows) }));
  }
}
