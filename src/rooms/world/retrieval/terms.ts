// A letter or digit of a script written without spaces, or a pictograph, each with its marks; else a run of letters,
// digits and marks.
const SOLO =
  "(?:(?=[\\p{L}\\p{N}])[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}]|\\p{Extended_Pictographic})";
const UNIT = new RegExp(`${SOLO}\\p{M}*|(?:(?!${SOLO})[\\p{L}\\p{N}\\p{M}])+`, "gu");
const PLAIN = /^[a-z0-9]+$/;
const MARKS = /\p{M}+/gu;

/** Query terms beyond this many are not looked at. */
const MAX_QUERY_TERMS = 16;

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

/** UTF-16 offsets of every unit of a text that holds one of the terms. */
export function findTermRanges(text: string, terms: ReadonlySet<string>): [number, number][] {
  const ranges: [number, number][] = [];
  for (const match of text.matchAll(UNIT)) {
    if (foldUnit(match[0]).some((term) => terms.has(term))) ranges.push([match.index, match.index + match[0].length]);
  }
  return ranges;
}

/** All terms of a text in order, each as often as it is there. */
export function allTerms(text: string): Iterable<string> {
  return plainTerms(text) ?? foldedTerms(text);
}

/** Most lines are ASCII, of which the rule says the same in fewer steps; null for any other. */
function plainTerms(text: string): string[] | null {
  const bounds: number[] = [];
  let isInside = false;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > 0x7f) return null;
    if (isWordUnit(unit) !== isInside) {
      bounds.push(i);
      isInside = !isInside;
    }
  }
  if (isInside) bounds.push(text.length);
  const folded = text.toLowerCase();
  const terms: string[] = [];
  for (let i = 0; i < bounds.length; i += 2) terms.push(folded.slice(bounds[i], bounds[i + 1]));
  return terms;
}

/** An ASCII letter or digit. */
function isWordUnit(unit: number): boolean {
  const lower = unit | 0x20;
  return (lower >= 0x61 && lower <= 0x7a) || (unit >= 0x30 && unit <= 0x39);
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
