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
  return utf8Length(term) <= MAX_KEY_BYTES ? `t:${term}` : `h:${crypto.sha256(encodeUtf8(term))}`;
}

/** Keys of the posting lists of who may see an entry, and of who wrote it. */
export const visibleKey = (person: number): string => `v:${person}`;
export const authorKey = (author: number): string => `a:${author}`;

/** What entries add to the index: per key and block the low bytes of their numbers, in order. */
export function toPostings(crypto: SyncCrypto, numbers: Numbers, entries: readonly EntryRow[]): PostingRow[] {
  const lists = new Map<string, { readonly key: string; readonly block: number; readonly lows: number[] }>();
  for (const entry of entries) {
    const block = Math.floor(entry.wseq / BLOCK);
    const keys = [
      ...termsOf(entry.text).map((term) => termKey(crypto, term)),
      ...toAudience(numbers, entry).map(visibleKey),
      authorKey(numbers.get(entry.author_id)!),
    ];
    for (const key of keys) {
      const at = `${block} ${key}`;
      const list = lists.get(at) ?? { key, block, lows: [] };
      if (list.lows.length === 0) lists.set(at, list);
      list.lows.push(entry.wseq % BLOCK);
    }
  }
  return [...lists.values()].map(({ key, block, lows }) => ({ key, block, lows: Uint8Array.from(lows) }));
}
