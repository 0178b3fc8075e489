// A letter or digit of a script written without spaces, or a pictograph, each with its marks; else a run of letters,
// digits and marks.
const SOLO =
  "(?:(?=[\\p{L}\\p{N}])[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}]|\\p{Extended_Pictographic})";
const UNIT = new RegExp(`${SOLO}\\p{M}*|(?:(?!${SOLO})[\\p{L}\\p{N}\\p{M}])+`, "gu");
const PLAIN = /^[a-z0-9]+$/;
const ASCII = /^[\p{ASCII}]*$/u;
const ASCII_WORD = /[a-z0-9]+/g;
const MARKS = /\p{M}+/gu;

/** Query terms beyond this many are not looked at. */
export const MAX_QUERY_TERMS = 16;

/** The distinct terms of a text in order. No stemming, no stop words, no operators. */
export function termsOf(text: string): string[] {
  return [...new Set(allTerms(text))];
}

/** The terms a query asks for. */
export function queryTerms(text: string): string[] {
  const terms = new Set<string>();
  for (const term of allTerms(text)) {
    terms.add(term);
    if (terms.size === MAX_QUERY_TERMS) break;
  }
  return [...terms];
}

/** UTF-16 offset of the first unit that holds one of the terms, or -1. */
export function findFirstTerm(text: string, terms: ReadonlySet<string>): number {
  if (terms.size === 0) return -1;
  for (const match of text.matchAll(UNIT)) {
    for (const term of foldUnit(match[0])) if (terms.has(term)) return match.index;
  }
  return -1;
}

function allTerms(text: string): Iterable<string> {
  // Most lines are plain; the rule says the same about them in fewer steps.
  if (ASCII.test(text)) return text.toLowerCase().match(ASCII_WORD) ?? [];
  return foldedTerms(text);
}

function* foldedTerms(text: string): Generator<string> {
  for (const match of text.matchAll(UNIT)) yield* foldUnit(match[0]);
}

function foldUnit(unit: string): readonly string[] {
  if (PLAIN.test(unit)) return [unit];
  const folded = unit.normalize("NFKD").replace(MARKS, "").toLowerCase().replaceAll("ς", "σ").normalize("NFC");
  if (PLAIN.test(folded)) return [folded];
  // Compatibility forms unfold into several units, for example a circled word or a ligature of Han characters.
  return folded.match(UNIT) ?? [];
}
