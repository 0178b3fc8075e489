/** Shorter words are taken as they are: nearly everything begins with them. */
const SHORTEST = 3;
const PLAIN = /^[a-z]+$/;
const VOWEL = /[aeiouy]/;
const DOUBLE = /([b-df-hj-km-npqrtvwx])\1$/;
/** Greater than every character of a word. */
const LAST = "\u{10ffff}";

/** The words between which all forms of a word lie, and all words that begin with it; null for a word that has none. */
export function looseRange(word: string): readonly [first: string, last: string] | null {
  if ([...word].length < SHORTEST) return null;
  // A `y` may have become an `i`, so neither is common to all forms.
  const root = stemOf(word).replace(/i$/, "");
  return prefixRange(word.startsWith(root) ? root : word);
}

/** The words that begin with a text. */
export function prefixRange(text: string): readonly [first: string, last: string] {
  return [text, text + LAST];
}

/** Whether a word is another form of the one that was asked for, or goes on after it. */
export function isForm(asked: string, word: string): boolean {
  return word.startsWith(asked) || stemOf(word) === stemOf(asked);
}

/**
 * What the forms of an English word have in common: without the endings of plurals and verbs, a last `e`, and with `i` for a
 * last `y`. No dictionary, no locale: the same on every machine. Words with anything but a to z are their own stem.
 */
export function stemOf(word: string): string {
  if (!PLAIN.test(word)) return word;
  const stem = withoutVerbEnding(withoutPlural(word));
  if (stem.length > SHORTEST && stem.endsWith("e")) return stem.slice(0, -1);
  return stem.length > SHORTEST && stem.endsWith("y") ? `${stem.slice(0, -1)}i` : stem;
}

function withoutPlural(word: string): string {
  if (/[^aeiou]ies$/.test(word) && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(?:[sxz]|[cs]h)es$/.test(word) && word.length - 2 >= SHORTEST) return word.slice(0, -2);
  return /[^siu]s$/.test(word) && word.length > SHORTEST ? word.slice(0, -1) : word;
}

function withoutVerbEnding(word: string): string {
  if (/[^aeiou]ied$/.test(word) && word.length > 4) return `${word.slice(0, -3)}y`;
  const ending = /(?:ing|(?<!e)ed)$/.exec(word)?.[0] ?? "";
  const rest = word.slice(0, word.length - ending.length);
  if (ending === "" || rest.length < SHORTEST || !VOWEL.test(rest)) return word;
  return rest.length > SHORTEST && DOUBLE.test(rest) ? rest.slice(0, -1) : rest;
}
