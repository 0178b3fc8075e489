import { en } from "./en.ts";

export type Words = typeof en;

const PSEUDO: Readonly<Record<string, string>> = Object.fromEntries(
  [..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"].map((letter, at) => [
    letter,
    [..."àƀćđéƒĝħíĵķľḿńóṕɋŕšţúṽŵẋýźÀƁĆĐÉƑĜĦÍĴĶĽḾŃÓṔɊŔŠŢÚṼŴẊÝŹ"][at]!,
  ]),
);

/** The words of this browser's language. There is one so far; `en-XA` is longer and accented, to find what was not translated. */
export const words: Words = languageOf(navigator.language) === "en-XA" ? (pseudo(en) as Words) : en;

/** A browser without a language says things that `Intl` refuses, such as en-US@posix. */
export function languageOf(given: string): string {
  try {
    return new Intl.Locale(given).toString();
  } catch {
    return "en";
  }
}

function pseudo(part: unknown): unknown {
  if (typeof part === "string") return stretch(part);
  if (typeof part === "function")
    return (...given: unknown[]) => stretch(String((part as (...all: unknown[]) => unknown)(...given)));
  return Object.fromEntries(Object.entries(part as object).map(([name, value]) => [name, pseudo(value)]));
}

function stretch(text: string): string {
  const accented = [...text].map((letter) => PSEUDO[letter] ?? letter).join("");
  return `[${accented}${" ·".repeat(Math.ceil(text.length / 8))}]`;
}
