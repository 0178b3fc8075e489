import type { SearchHit } from "../ports.ts";
import type { TermMatch } from "./search-match.ts";
import { PLACES } from "./search-segment.ts";

const MOST_PLACES = 128;
const MOST_TEXT = 1024;

/**
 * How good a section is, as one number, the greater the better. What counts first: words as they were asked for before other
 * forms of them; everything before tests; names and headings before mentions, and those before paths; then how often the words
 * come in how long a text. Nothing but the section and the query has a say, so other files never change it.
 */
export function scoreOf(matches: readonly TermMatch[], section: number, length: number, isTest: boolean): number {
  let exact = 0;
  let places = 0;
  let text = 0;
  for (const match of matches) {
    const count = match.counts[section]!;
    if (match.loose[section] === 0) exact++;
    places += weigh(match.places[section]!);
    text += Math.floor(((MOST_TEXT - 1) * 100 * count) / (100 * count + 100 + length));
  }
  const upper = (exact * 2 + (isTest ? 0 : 1)) * MOST_PLACES + places;
  return upper * MOST_TEXT + Math.floor(text / matches.length);
}

function weigh(places: number): number {
  if ((places & PLACES.name) !== 0) return 3;
  if ((places & PLACES.heading) !== 0) return 2;
  return (places & PLACES.body) !== 0 ? 1 : 0;
}

/** The best hits that were offered, best first; equal ones in index order. */
export class BestHits {
  readonly #limit: number;
  readonly hits: SearchHit[] = [];
  total = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Counts a section that was found, and says whether one with this score may be among the best. */
  admits(score: number): boolean {
    this.total++;
    return this.hits.length < this.#limit || score >= this.hits[this.hits.length - 1]!.score;
  }

  /** Takes it in at its place. */
  keep(score: number, file: number, ordinal: number): void {
    const { hits } = this;
    let at = hits.length;
    while (at > 0 && isBefore(score, file, ordinal, hits[at - 1]!)) at--;
    if (at >= this.#limit) return;
    hits.splice(at, 0, { score, file, ordinal });
    if (hits.length > this.#limit) hits.pop();
  }
}

function isBefore(score: number, file: number, ordinal: number, other: SearchHit): boolean {
  if (score !== other.score) return score > other.score;
  return file === other.file ? ordinal < other.ordinal : file < other.file;
}
