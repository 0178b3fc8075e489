import { codePointLength } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";

/** One thing a query looks for: a word, a phrase, or words that begin so. The text is as typed. */
export interface SearchTerm {
  readonly text: string;
  readonly prefix: boolean;
  /** Set for what stood in quotes: it is taken literally. */
  readonly quoted?: true;
}

/** A query that was understood. All terms must match. */
export interface SearchQuery {
  readonly terms: readonly SearchTerm[];
  /** Terms without a letter or number, as typed. */
  readonly ignored: readonly string[];
}

const LONGEST_QUERY = 1024;
const MOST_TERMS = 32;
const LETTER_OR_NUMBER = /[\p{L}\p{N}]/u;
// A quoted phrase (the quote may lack its end), or a run without ASCII white space and quotes.
const PARTS = /"([^"]*)("?)|[^"\t\n\v\f\r ]+/g;
const STARS = /\*+$/;

/**
 * Parses a query; throws SEARCH_TOO_LONG, SEARCH_SYNTAX or SEARCH_EMPTY. No word of it is an operator.
 *
 * @example
 * parseSearchQuery('low "at noon" tid*').terms.length; // => 3
 */
export function parseSearchQuery(query: string): SearchQuery {
  if (query.length > LONGEST_QUERY && codePointLength(query) > LONGEST_QUERY) {
    throw tooLong({ characters: codePointLength(query), limit: LONGEST_QUERY });
  }
  if (!query.isWellFormed()) throw new VerbatimError("SEARCH_SYNTAX", { message: "the query is not valid Unicode" });
  const terms: SearchTerm[] = [];
  const ignored: string[] = [];
  for (const match of query.matchAll(PARTS)) {
    const [whole, phrase, closing] = match;
    if (closing === "") {
      throw new VerbatimError("SEARCH_SYNTAX", {
        message: `the quote at character ${codePointLength(query.slice(0, match.index))} is not closed`,
        details: { position: codePointLength(query.slice(0, match.index)) },
      });
    }
    const text = phrase ?? whole.replace(STARS, "");
    if (LETTER_OR_NUMBER.test(text))
      terms.push(phrase === undefined ? { text, prefix: text !== whole } : { text, prefix: false, quoted: true });
    else ignored.push(phrase ?? whole);
  }
  if (terms.length > MOST_TERMS) throw tooLong({ terms: terms.length, limit: MOST_TERMS });
  if (terms.length === 0) {
    const fix = ignored.length === 0 ? "Write a word to look for." : "Write at least one letter or digit.";
    throw new VerbatimError("SEARCH_EMPTY", { fix, details: { ignored } });
  }
  return { terms, ignored };
}

function tooLong(details: {
  readonly limit: number;
  readonly characters?: number;
  readonly terms?: number;
}): VerbatimError {
  const { characters, terms, limit } = details;
  const message = `the query has ${characters ?? terms} ${terms === undefined ? "characters" : "terms"}; the limit is ${limit}`;
  return new VerbatimError("SEARCH_TOO_LONG", { message, details });
}
