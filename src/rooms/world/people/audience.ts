import { encodeUtf8, utf8Length } from "../../../core/canonical/index.ts";
import type { SyncCrypto } from "../../../core/ports.ts";
import { isForEverybody } from "../contracts/visibility.ts";
import type { View } from "../knowledge/gate.ts";
import {
  type AudienceFilter,
  type EntryRow,
  EVERYBODY,
  type PersonRow,
  THE_OPERATOR,
  THE_WORLD,
  type VisibleRow,
} from "../ports.ts";
import type { IndexedEntry } from "../retrieval/postings.ts";
import { termsOf } from "../retrieval/terms.ts";
import { type Cast, WORLD } from "./cast.ts";

/** Numbers of identities, under which they stand in indexes: a name could be the beginning of another. */
export type Numbers = ReadonlyMap<string, number>;

/** The number of everyone in a world. */
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

function toAudience(numbers: Numbers, scope: string, audience: string): readonly number[] {
  return isForEverybody(scope) ? [EVERYBODY] : parseAudience(audience).map((id) => numbers.get(id)!);
}

// A world has few distinct audiences, and every line that is written or read has one.
const audiences = new Map<string, readonly string[]>();
const KEEP_AUDIENCES = 4096;

/** The ids of an audience as it stands in a row. */
export function parseAudience(text: string): readonly string[] {
  const known = audiences.get(text);
  if (known !== undefined) return known;
  const parsed = JSON.parse(text) as readonly string[];
  if (audiences.size >= KEEP_AUDIENCES) audiences.clear();
  audiences.set(text, parsed);
  return parsed;
}

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

/** What follows from the rows of lines: who may see each, and the keys under which the index finds it. */
export interface Lines {
  readonly visible: VisibleRow[];
  readonly indexed: IndexedEntry[];
}

/** Makes what follows from lines. `makeRows` asks for it, and an index that is rebuilt is made of it from the rows at hand. */
export function toLines(crypto: SyncCrypto, numbers: Numbers, rows: readonly EntryRow[]): Lines {
  const visible: VisibleRow[] = [];
  const indexed: IndexedEntry[] = [];
  for (const { wseq, scope, audience, author_id, text } of rows) {
    const keys = termsOf(text);
    for (let i = 0; i < keys.length; i++) keys[i] = termKey(crypto, keys[i]!);
    for (const person of toAudience(numbers, scope, audience)) {
      visible.push({ wseq, person });
      keys.push(visibleKey(person));
    }
    keys.push(authorKey(numbers.get(author_id)!));
    indexed.push({ wseq, keys });
  }
  return { visible, indexed };
}
