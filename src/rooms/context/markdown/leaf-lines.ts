import {
  ASTERISK,
  BACKTICK,
  CLOSE_PAREN,
  DOT,
  EQUALS,
  HASH_SIGN,
  isBlank,
  isDigit,
  MINUS,
  PLUS,
} from "./characters.ts";

const LINE_SEPARATOR = /[\u2028\u2029]/;

/** Level of an ATX heading whose first `#` is at an offset, or 0. */
export function atxLevel(text: string, at: number, end: number): number {
  let i = at;
  while (i < end && i - at < 7 && text.charCodeAt(i) === HASH_SIGN) i++;
  const level = i - at;
  return level <= 6 && (i === end || isBlank(text.charCodeAt(i))) ? level : 0;
}

/** Content of an ATX heading: what follows the opening `#`s, without a closing run that a blank precedes. */
export function atxContent(text: string, at: number, end: number): string {
  let from = at;
  while (from < end && isBlank(text.charCodeAt(from))) from++;
  let to = end;
  while (to > from && isBlank(text.charCodeAt(to - 1))) to--;
  let hashes = to;
  while (hashes > from && text.charCodeAt(hashes - 1) === HASH_SIGN) hashes--;
  if (hashes === to) return text.slice(from, to);
  if (hashes === from) return "";
  return text.slice(from, isBlank(text.charCodeAt(hashes - 1)) ? hashes : to);
}

/** Length of the code fence that opens at an offset, or 0. */
export function fenceLength(text: string, at: number, end: number): number {
  const marker = text.charCodeAt(at);
  const after = skipRun(text, at, end, marker);
  if (after - at < 3) return 0;
  return marker === BACKTICK && hasBacktick(text.slice(after, end)) ? 0 : after - at;
}

// The reference asks for a backtick with a dot expression, which stops at U+2028 and U+2029.
function hasBacktick(info: string): boolean {
  const tick = info.indexOf("`");
  if (tick === -1) return false;
  const separator = info.search(LINE_SEPARATOR);
  return separator === -1 || tick < separator;
}

/** Whether the rest of a line, from its first marker on, closes a fence. */
export function closesFence(text: string, at: number, end: number, marker: number, length: number): boolean {
  if (at >= end || text.charCodeAt(at) !== marker) return false;
  const after = skipRun(text, at, end, marker);
  return after - at >= length && isBlankRest(text, after, end);
}

/** Level of the setext heading that the rest of a line underlines, or 0. */
export function setextLevel(text: string, at: number, end: number): number {
  const marker = text.charCodeAt(at);
  if (marker !== EQUALS && marker !== MINUS) return 0;
  if (!isBlankRest(text, skipRun(text, at, end, marker), end)) return 0;
  return marker === EQUALS ? 1 : 2;
}

/** Length of the list marker at an offset, or 0; a blank or the end of the line must follow it. */
export function listMarkerLength(text: string, at: number, end: number): number {
  const code = text.charCodeAt(at);
  let i = at;
  if (code === MINUS || code === ASTERISK || code === PLUS) i++;
  else {
    while (i < end && i - at < 10 && isDigit(text.charCodeAt(i))) i++;
    if (i === at || i - at > 9 || i === end) return 0;
    const delimiter = text.charCodeAt(i);
    if (delimiter !== DOT && delimiter !== CLOSE_PAREN) return 0;
    i++;
  }
  return i === end || isBlank(text.charCodeAt(i)) ? i - at : 0;
}

/** Whether a list marker may end a paragraph: it is a bullet or the number 1, and its item does not begin empty. */
export function interruptsParagraph(text: string, at: number, length: number, end: number): boolean {
  if (length > 1 && Number(text.slice(at, at + length - 1)) !== 1) return false;
  for (let i = at + length; i < end; i++) {
    const code = text.charCodeAt(i);
    // Vertical tab and form feed count as space here and nowhere else in block structure.
    if (!isBlank(code) && code !== 11 && code !== 12) return true;
  }
  return false;
}

function skipRun(text: string, at: number, end: number, marker: number): number {
  let i = at;
  while (i < end && text.charCodeAt(i) === marker) i++;
  return i;
}

function isBlankRest(text: string, at: number, end: number): boolean {
  let i = at;
  while (i < end && isBlank(text.charCodeAt(i))) i++;
  return i === end;
}
