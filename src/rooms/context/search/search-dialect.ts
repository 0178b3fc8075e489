import { spaceScripts } from "../../../core/text/index.ts";
import type { CompiledQuery, SearchEngine, SearchRow } from "../ports.ts";
import { type SearchQuery, type SearchTerm, toFts5, toFts5Term, toTsquery, toTsqueryTerm } from "./search-query.ts";
import { GAP, hasTerm, listWords, toTsvectors } from "./search-words.ts";

/** What is searched of one section. */
interface SearchText {
  readonly ordinal: number;
  readonly body: string;
  readonly path: string;
  readonly headings: readonly string[];
}

/** The rows of a section as the engine wants them. */
export function toSearchRows(engine: SearchEngine, { ordinal, body, path, headings }: SearchText): SearchRow[] {
  if (engine.form === "spaced") {
    return [{ ordinal, part: 0, body: space(body), path: space(path), headings: space(headings.join("\n")) }];
  }
  const words = [path, ...headings].flatMap((text) => [...listWords(text), GAP]);
  return toTsvectors([...words, ...listWords(body)]).map((text, part) => ({
    ordinal,
    part,
    body: text,
    path: "",
    headings: "",
  }));
}

/** The query in the language of the engine. */
export function compileQuery(engine: SearchEngine, query: SearchQuery): CompiledQuery {
  const isSpaced = engine.form === "spaced";
  const terms = [...new Set(query.terms.map(isSpaced ? toFts5Term : toTsqueryTerm))];
  return { terms, all: isSpaced ? toFts5(query) : toTsquery(query), any: terms.join(isSpaced ? " OR " : " | ") };
}

// Lines are looked at in portions: a match near the beginning of a long text costs little.
const PORTION = 512;

/**
 * Number of the first line that has a term of the query. A phrase may run over the end of a line: then the first line
 * that has one of its words. Nothing found, which a match in the path or a heading alone explains, is line 0.
 */
export async function findFirstLine(
  engine: SearchEngine,
  query: SearchQuery,
  lines: readonly string[],
): Promise<number> {
  const words = query.terms.flatMap(({ text, prefix }) => listWords(text).map((word) => ({ text: word, prefix })));
  for (const terms of [query.terms, words]) {
    for (let at = 0; at < lines.length; at += PORTION) {
      const found = await findInLines(engine, terms, lines.slice(at, at + PORTION));
      if (found !== -1) return at + found;
    }
  }
  return 0;
}

async function findInLines(
  engine: SearchEngine,
  terms: readonly SearchTerm[],
  lines: readonly string[],
): Promise<number> {
  if (engine.form === "spaced") return engine.firstLine(terms.map(toFts5Term).join(" OR "), lines.map(space));
  return lines.findIndex((line) => {
    const words = listWords(line);
    return terms.some((term) => hasTerm(words, term));
  });
}

/** U+0000 cannot be stored, and no word contains it. */
function space(text: string): string {
  return spaceScripts(text).replaceAll("\0", " ");
}
