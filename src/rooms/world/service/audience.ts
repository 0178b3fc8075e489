import { encodeUtf8, utf8Length } from "../../../core/canonical/index.ts";
import type { SyncCrypto } from "../../../core/ports.ts";
import { type Cast, WORLD } from "../cast.ts";
import type { View } from "../gate.ts";
import {
  type AudienceFilter,
  type EntryRow,
  EVERYBODY,
  type PersonRow,
  type PostingRow,
  THE_OPERATOR,
  THE_WORLD,
  type VisibleRow,
} from "../ports.ts";
import { termsOf } from "../retrieval/terms.ts";

/** Numbers of identities, under which they stand in indexes: a name could be the beginning of another. */
export type Numbers = ReadonlyMap<string, number>;

/** The number of everybody in a world. */
export function toNumbers(cast: Pick<Cast, "operator_id">, people: readonly PersonRow[]): Numbers {
  const numbers = new Map(people.map(({ person_id, number }) => [person_id, number]));
  numbers.set(WORLD, THE_WORLD);
  numbers.set(cast.operator_id, THE_OPERATOR);
  return numbers;
}

/** What a view may see, as the store filters it. The gate has the last word on every row. */
export function toFilter(numbers: Numbers, view: View): AudienceFilter {
  const NOBODY = -1;
  const number = (id: string): number => numbers.get(id) ?? NOBODY;
  if (view.kind === "viewer") return { any: [EVERYBODY, number(view.id)], all: [] };
  return { any: [EVERYBODY, THE_WORLD], all: view.present.map(number) };
}

/** Rows that say who may see an entry. */
export function toVisibleRows(numbers: Numbers, entry: EntryRow): VisibleRow[] {
  return toAudience(numbers, entry).map((person) => ({ wseq: entry.wseq, person }));
}

function toAudience(numbers: Numbers, entry: EntryRow): number[] {
  if (entry.scope === "PUBLIC") return [EVERYBODY];
  return (JSON.parse(entry.audience) as string[]).map((id) => numbers.get(id)!);
}

export const BLOCK = 256;
const MAX_KEY_BYTES = 128;

/** Key of a term's posting list. */
export function termKey(crypto: SyncCrypto, term: string): string {
  // A UTF-16 unit is at most three bytes, so only long terms need to be measured.
  const isShort = term.length * 3 <= MAX_KEY_BYTES || utf8Length(term) <= MAX_KEY_BYTES;
  return isShort ? `t:${term}` : `h:${crypto.sha256(encodeUtf8(term))}`;
}

/** Keys of the posting lists of who may see an entry, and of who wrote it. */
export const visibleKey = (person: number): string => `v:${person}`;
export const authorKey = (author: number): string => `a:${author}`;

/** What entries add to the index: per key and block the low bytes of their numbers, in order. */
export function toPostings(crypto: SyncCrypto, numbers: Numbers, entries: readonly EntryRow[]): PostingRow[] {
  const postings: PostingRow[] = [];
  let block = -1;
  let lists = new Map<string, number[]>();
  const flush = (): void => {
    for (const [key, lows] of lists) postings.push({ key, block, lows: toBytes(lows) });
  };
  for (const entry of entries) {
    const at = Math.floor(entry.wseq / BLOCK);
    if (at !== block) {
      flush();
      block = at;
      lists = new Map();
    }
    const low = entry.wseq % BLOCK;
    const add = (key: string): void => {
      const list = lists.get(key);
      if (list === undefined) lists.set(key, [low]);
      else list.push(low);
    };
    for (const term of termsOf(entry.text)) add(termKey(crypto, term));
    for (const person of toAudience(numbers, entry)) add(visibleKey(person));
    add(authorKey(numbers.get(entry.author_id)!));
  }
  flush();
  return postings;
}

const ONE_BYTE = Array.from({ length: BLOCK }, (_, low) => Uint8Array.of(low));

/** Most lists of a beat hold one number. */
function toBytes(lows: readonly number[]): Uint8Array {
  return lows.length === 1 ? ONE_BYTE[lows[0]!]! : Uint8Array.from(lows);
}
