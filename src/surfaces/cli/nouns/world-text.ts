// Control characters could drive the terminal; bidi controls could show a line in another order than it has.
const UNSAFE = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Stored text as a terminal may show it: line breaks stay, other control characters are escaped. */
export function shown(text: string): string {
  return text.replace(UNSAFE, (character) =>
    character === "\n" ? "\n" : `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}
