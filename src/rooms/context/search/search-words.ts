import { spaceScripts } from "../../../core/text/index.ts";
import type { SearchTerm } from "./search-query.ts";

const WORDS = /[\p{L}\p{N}\p{M}\p{Co}]+/gu;
const DIACRITICS = /[\u0300-\u036f]/g;
const ASCII = /^[\0-\x7f]*$/;
// PostgreSQL refuses lexemes of more than 2,046 bytes; longer words are told apart by their beginning.
const LONGEST_WORD = 500;
// A tsvector counts positions up to 16,383 and keeps 256 of a word; phrases beyond would be lost without a word.
const MOST_WORDS = 8000;
const MOST_OF_ONE = 255;
// The longest phrase a query can ask for, so that one across the border of two parts is whole in one of them.
const OVERLAP = 1023;

/** Stands between the words of two texts that are not one: no phrase reaches across it. */
export const GAP = "";

/** The words of a text: lower case, without diacritics and punctuation, each character of Han, Thai and the like. */
export function listWords(text: string): string[] {
  const words = spaceScripts(fold(text)).match(WORDS) ?? [];
  for (let i = 0; i < words.length; i++) if (words[i]!.length > LONGEST_WORD) words[i] = shorten(words[i]!);
  return words;
}

function fold(text: string): string {
  const lower = text.toLowerCase();
  return ASCII.test(lower) ? lower : lower.normalize("NFD").replace(DIACRITICS, "").normalize("NFC");
}

function shorten(word: string): string {
  const end = word.codePointAt(LONGEST_WORD - 1)! > 0xffff ? LONGEST_WORD - 1 : LONGEST_WORD;
  return word.slice(0, end);
}

/** Words as the texts of tsvectors with positions, as many as their limits ask for. Words hold nothing to be escaped. */
export function toTsvectors(words: readonly string[]): string[] {
  const parts: string[] = [];
  for (let start = 0; start < words.length || parts.length === 0; ) {
    const end = findEnd(words, start);
    parts.push(toTsvector(words, start, end));
    if (end === words.length) break;
    start = Math.max(end - OVERLAP, start + Math.ceil((end - start) / 2));
  }
  return parts;
}

function findEnd(words: readonly string[], start: number): number {
  const counts = new Map<string, number>();
  for (let i = start; i < Math.min(words.length, start + MOST_WORDS); i++) {
    const count = (counts.get(words[i]!) ?? 0) + 1;
    if (count > MOST_OF_ONE && words[i] !== GAP) return i;
    counts.set(words[i]!, count);
  }
  return Math.min(words.length, start + MOST_WORDS);
}

function toTsvector(words: readonly string[], start: number, end: number): string {
  const places = new Map<string, string>();
  for (let i = start; i < end; i++) {
    const word = words[i]!;
    if (word === GAP) continue;
    const known = places.get(word);
    places.set(word, known === undefined ? `${i - start + 1}` : `${known},${i - start + 1}`);
  }
  const lexemes: string[] = [];
  for (const [word, positions] of places) lexemes.push(`'${word}':${positions}`);
  return lexemes.join(" ");
}

/** Whether the words of a line have a term, as PostgreSQL would say. */
export function hasTerm(words: readonly string[], { text, prefix }: SearchTerm): boolean {
  const wanted = listWords(text);
  const last = wanted.length - 1;
  for (let i = 0; i + last < words.length; i++) {
    let k = 0;
    while (k < last && words[i + k] === wanted[k]) k++;
    if (k === last && (prefix ? words[i + last]!.startsWith(wanted[last]!) : words[i + last] === wanted[last])) {
      return true;
    }
  }
  return false;
}
