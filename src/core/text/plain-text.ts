import { showPath } from "../paths/index.ts";

// Control characters would let foreign text draw on the terminal; direction characters would show a line in another order
// than it has.
const DANGEROUS = /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** A text of foreign origin as one line of a terminal. */
export function showLine(text: string): string {
  return text.replace(DANGEROUS, "\ufffd");
}

/** The same, keeping its line feeds and tabs. */
export function showText(text: string): string {
  return text.replace(DANGEROUS, (character) => (character === "\n" || character === "\t" ? character : "\ufffd"));
}

/** The same, with nothing in their place. */
export function dropControls(text: string): string {
  return text.replace(DANGEROUS, (character) => (character === "\n" || character === "\t" ? character : ""));
}

/** What someone in a world wrote: line breaks stay, everything else is escaped, so that it can still be told apart. */
export function showWritten(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(DANGEROUS, (character) => (character === "\n" ? "\n" : `\\u{${character.codePointAt(0)!.toString(16)}}`));
}

/** A path or a place as it is, or quoted and escaped where it could draw on the terminal: it can still be told apart. */
export function showPlace(text: string): string {
  return text.search(DANGEROUS) === -1 ? text : showPath(text);
}

/** So many of a thing, as one says it. */
export function count(many: number, one: string, more = `${one}s`): string {
  return `${many} ${many === 1 ? one : more}`;
}
