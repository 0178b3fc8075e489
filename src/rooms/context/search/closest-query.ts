import type { SearchQuery, SearchTerm } from "./search-query.ts";

// Each word costs two looks at the search index.
const MOST_TERMS = 12;

/**
 * What is left of a query without results when words are dropped until it has some: the rarest word that occurs at all,
 * and every other, from rare to common, that still stands somewhere together with it. Null where no word occurs, or where
 * there is nothing to drop. `count` says how many sections a query finds.
 */
export async function findClosest(
  { terms }: SearchQuery,
  count: (query: string) => Promise<number>,
): Promise<string | null> {
  const known = new Map<string, number>();
  if (terms.length < 2) return null;
  for (const term of terms.slice(0, MOST_TERMS)) {
    const text = formatTerm(term);
    if (known.has(text)) continue;
    const total = await count(text);
    if (total > 0) known.set(text, total);
  }
  const order = [...known.keys()];
  // The sort is stable: words that are equally rare keep the order in which they were typed.
  const byRarity = order.toSorted((a, b) => known.get(a)! - known.get(b)!);
  const kept = new Set<string>();
  for (const text of byRarity) {
    const query = order.filter((one) => kept.has(one) || one === text).join(" ");
    if (kept.size === 0 || (await count(query)) > 0) kept.add(text);
  }
  return kept.size === 0 ? null : order.filter((one) => kept.has(one)).join(" ");
}

/** A term as it is typed. */
function formatTerm({ text, prefix }: SearchTerm): string {
  if (prefix) return `${text}*`;
  return /[\t\n\v\f\r ]/.test(text) ? `"${text}"` : text;
}
