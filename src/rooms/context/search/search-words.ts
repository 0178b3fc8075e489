import { spaceScripts } from "../../../core/text/index.ts";

const WORDS = /[\p{L}\p{N}\p{M}\p{Co}]+/gu;
const PLAIN_WORDS = /[a-z0-9]+/g;
const DIACRITICS = /[\u0300-\u036f]/g;
const ASCII = /^[\0-\x7f]*$/;
// A database refuses to find what is longer than a few kilobytes; longer words are told apart by their beginning.
const LONGEST_WORD = 500;

/** The words of a text: lower case, without diacritics and punctuation, each character of Han, Thai and the like. */
export function listWords(text: string): string[] {
  const lower = text.toLowerCase();
  const words = ASCII.test(lower) ? lower.match(PLAIN_WORDS) : spaceScripts(fold(lower)).match(WORDS);
  if (words === null) return [];
  for (let i = 0; i < words.length; i++) if (words[i]!.length > LONGEST_WORD) words[i] = shorten(words[i]!);
  return words;
}

function fold(lower: string): string {
  return lower.normalize("NFD").replace(DIACRITICS, "").normalize("NFC");
}

function shorten(word: string): string {
  const end = word.codePointAt(LONGEST_WORD - 1)! > 0xffff ? LONGEST_WORD - 1 : LONGEST_WORD;
  return word.slice(0, end);
}

// Texts are read in pieces of this many UTF-16 units, so that others get their turn between them.
const PIECE = 32 * 1024;
const NEAR = 1024;
const BETWEEN_WORDS = /[^\p{L}\p{N}\p{M}\p{Co}]/u;

/** A text in pieces that end between words, unless a word is longer than any that is told apart. */
export function* eachPiece(text: string): Iterable<string> {
  for (let at = 0; at < text.length; ) {
    const end = text.length - at <= PIECE ? text.length : findGap(text, at + PIECE);
    yield text.slice(at, end);
    at = end;
  }
}

function findGap(text: string, from: number): number {
  for (let i = from; i > from - NEAR; i--) if (BETWEEN_WORDS.test(text.charAt(i)) && !isHalf(text, i)) return i;
  const unit = text.charCodeAt(from);
  return unit >= 0xdc00 && unit <= 0xdfff ? from - 1 : from;
}

function isHalf(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xd800 && unit <= 0xdfff;
}
