import type { FoundWord } from "../ports.ts";
import { eachPositions, eachPosting } from "./search-segment.ts";
import type { Kind, WordTerm } from "./search-term.ts";

/** In which sections of a segment a term is, how often, where, and whether only in another form. */
export class TermMatch {
  readonly counts: Int32Array;
  readonly places: Uint8Array;
  readonly loose: Uint8Array;

  constructor(sections: number) {
    this.counts = new Int32Array(sections);
    this.places = new Uint8Array(sections);
    this.loose = new Uint8Array(sections);
  }

  /** Other forms count only where the word itself is not; so those come second. */
  add(section: number, count: number, places: number, isLoose: boolean): void {
    if (section >= this.counts.length) return;
    if (this.counts[section]! > 0 && isLoose && this.loose[section] === 0) return;
    this.counts[section]! += count;
    this.places[section]! |= places;
    this.loose[section] = isLoose ? 1 : 0;
  }
}

interface Chain {
  readonly places: number;
  readonly positions: readonly number[];
}

/** Finds a term in one segment. `find` gives the rows of that segment between two words. */
export function matchTerm(
  term: WordTerm,
  sections: number,
  find: (first: string, last: string) => readonly FoundWord[],
): TermMatch {
  const match = new TermMatch(sections);
  const rows = find(...term.range);
  const before = term.before.length === 0 ? null : chain(term.before, find);
  for (const kind of ["exact", "loose"] as const) {
    const mine = rows.filter(({ word }) => term.judge(word) === kind);
    if (before === null) addWords(match, mine, kind);
    else addPhrases(match, before, mine, kind);
  }
  return match;
}

function addWords(match: TermMatch, rows: readonly FoundWord[], kind: Kind): void {
  for (const { postings } of rows) {
    eachPosting(postings, (section, count, places) => match.add(section, count, places, kind === "loose"));
  }
}

function addPhrases(
  match: TermMatch,
  before: ReadonlyMap<number, Chain>,
  rows: readonly FoundWord[],
  kind: Kind,
): void {
  for (const { postings } of rows) {
    eachPositions(postings, (section, positions, places) => {
      const found = follow(before.get(section), positions, places);
      if (found !== null) match.add(section, found.positions.length, found.places, kind === "loose");
    });
  }
}

/** Sections in which these words stand one after the other, with the positions of the last. */
function chain(
  words: readonly string[],
  find: (first: string, last: string) => readonly FoundWord[],
): ReadonlyMap<number, Chain> {
  let found: Map<number, Chain> | null = null;
  for (const word of words) {
    const next = new Map<number, Chain>();
    for (const { postings } of find(word, word)) {
      eachPositions(postings, (section, positions, places) => {
        const chained = found === null ? { positions, places } : follow(found.get(section), positions, places);
        if (chained !== null) next.set(section, chained);
      });
    }
    found = next;
  }
  return found ?? new Map();
}

/** Those positions that come right after one of a chain. All words of a phrase are in the same place of the section. */
function follow(before: Chain | undefined, positions: readonly number[], places: number): Chain | null {
  if (before === undefined) return null;
  const next: number[] = [];
  let i = 0;
  for (const position of positions) {
    while (i < before.positions.length && before.positions[i]! < position - 1) i++;
    if (before.positions[i] === position - 1) next.push(position);
  }
  return next.length === 0 ? null : { positions: next, places: before.places & places };
}
