import { isForm, looseRange, prefixRange } from "./inflection.ts";
import type { SearchTerm } from "./search-query.ts";
import { listWords } from "./search-words.ts";

/** How a word answers to one that was asked for: itself or as asked with a star, only another form of it, or not. */
export type Kind = "exact" | "loose" | null;

/** A term as words that stand one after the other; the last may be one of several. */
export interface WordTerm {
  /** All words but the last. */
  readonly before: readonly string[];
  readonly last: string;
  /** Between which words the last one lies. */
  readonly range: readonly [first: string, last: string];
  judge(word: string): Kind;
}

/** What a term looks for. Quoted words are taken literally; of others the last may have another form. */
export function toWordTerm({ text, prefix, quoted }: SearchTerm): WordTerm {
  const words = listWords(text);
  const last = words.pop()!;
  if (prefix) {
    return { before: words, last, range: prefixRange(last), judge: (word) => (word.startsWith(last) ? "exact" : null) };
  }
  const loose = quoted === true ? null : looseRange(last);
  const judge = (word: string): Kind => {
    if (word === last) return "exact";
    return loose !== null && isForm(last, word) ? "loose" : null;
  };
  return { before: words, last, range: loose ?? [last, last], judge };
}

/** Whether the words of a line have a term in this way. */
export function hasTerm(words: readonly string[], { before, judge }: WordTerm, kind: Kind): boolean {
  for (let i = before.length; i < words.length; i++) {
    if (judge(words[i]!) !== kind) continue;
    let k = 0;
    while (k < before.length && words[i - before.length + k] === before[k]) k++;
    if (k === before.length) return true;
  }
  return false;
}
