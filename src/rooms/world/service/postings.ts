import { sortedByCodePoint } from "../../../core/canonical/index.ts";
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
  let lists = new Map<string, number[]>();
  const flush = (): void => {
    // Neighbours in the table are written one after the other.
    for (const key of sortedByCodePoint([...lists.keys()])) {
      postings.push({ key, block, lows: Uint8Array.from(lists.get(key)!) });
    }
  };
  for (const { wseq, keys } of entries) {
    const at = Math.floor(wseq / BLOCK);
    if (at !== block) {
      flush();
      block = at;
      lists = new Map();
    }
    const low = wseq % BLOCK;
    for (const key of keys) {
      const list = lists.get(key);
      if (list === undefined) lists.set(key, [low]);
      else list.push(low);
    }
  }
  flush();
  return postings;
}

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
