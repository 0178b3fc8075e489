const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}]/u;
const PLAIN = /^[\x20-\x7e]*$/;

/** Columns that a text takes on a terminal. */
export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += /\p{M}/u.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
}

/** The beginning of a text that takes at most so many columns. */
export function cutText(text: string, width: number): string {
  if (PLAIN.test(text)) return text.slice(0, Math.max(0, width));
  let left = width;
  let end = 0;
  for (const character of text) {
    left -= displayWidth(character);
    if (left < 0) break;
    end += character.length;
  }
  return text.slice(0, end);
}
