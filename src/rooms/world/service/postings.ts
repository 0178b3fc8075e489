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
  let part = new Block(-1);
  for (const { wseq, keys } of entries) {
    const block = Math.floor(wseq / BLOCK);
    if (block !== part.block) {
      part.flush(postings);
      part = new Block(block);
    }
    part.add(keys, wseq % BLOCK);
  }
  part.flush(postings);
  return postings;
}

/** What the entries of one block add: every place of every key in one array, so that a list costs no array of its own. */
class Block {
  readonly block: number;
  readonly #lists = new Map<string, number>();
  readonly #lengths: number[] = [];
  readonly #listOf: number[] = [];
  readonly #lows: number[] = [];

  constructor(block: number) {
    this.block = block;
  }

  add(keys: readonly string[], low: number): void {
    for (let i = 0; i < keys.length; i++) {
      let list = this.#lists.get(keys[i]!);
      if (list === undefined) {
        list = this.#lengths.length;
        this.#lists.set(keys[i]!, list);
        this.#lengths.push(0);
      }
      this.#lengths[list]!++;
      this.#listOf.push(list);
      this.#lows.push(low);
    }
  }

  flush(postings: PostingRow[]): void {
    const ends: number[] = [];
    let end = 0;
    for (const length of this.#lengths) {
      ends.push(end);
      end += length;
    }
    const lows = new Uint8Array(end);
    for (let i = 0; i < this.#lows.length; i++) lows[ends[this.#listOf[i]!]!++] = this.#lows[i]!;
    // Neighbours in the table are written one after the other; which order exactly makes no difference.
    for (const key of [...this.#lists.keys()].sort(byUnits)) {
      const list = this.#lists.get(key)!;
      const from = ends[list]! - this.#lengths[list]!;
      const own = this.#lengths[list] === 1 ? ALONE[lows[from]!]! : lows.subarray(from, ends[list]);
      postings.push({ key, block: this.block, lows: own });
    }
  }
}

/** Most lists of a block hold one place; there are only so many of those. */
const ALONE: readonly Uint8Array[] = Array.from({ length: BLOCK }, (_, low) => Uint8Array.of(low));

function byUnits(a: string, b: string): number {
  return a < b ? -1 : 1;
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
