import { spaceScripts } from "../../../core/text/index.ts";
import type { SearchQuery } from "./search-query.ts";

/**
 * A query in the language of SQLite FTS5, the form in which conformance vectors write down how a query was understood: quoted
 * terms joined by AND. A term holds no quote, so nothing of it is syntax. Searching itself compares words (search-term.ts).
 * U+0000 would end the text; like any character that is not a letter, it parts words.
 */
export function toFts5({ terms }: SearchQuery): string {
  return terms
    .map(({ text, prefix }) => `"${spaceScripts(text).replaceAll("\0", " ")}"${prefix ? " *" : ""}`)
    .join(" AND ");
}
