import {
  AT_SIGN,
  COLON,
  DOT,
  GREATER_THAN,
  isAlphanumeric,
  isAsciiPunctuation,
  isLetter,
  LESS_THAN,
  MINUS,
  PLUS,
  SPACE,
} from "./characters.ts";

const LONGEST_SCHEME = 32;
const LONGEST_LABEL = 63;

// ASCII punctuation that the part of a mail address before the @ cannot hold.
const NOT_IN_MAILBOX: ReadonlySet<number> = new Set(
  Array.from('"(),:;<>@[\\]', (character) => character.charCodeAt(0)),
);

/** The end of the autolink that starts with `<` at an offset, or -1. Never looks beyond the next `<`. */
export function scanAutolink(text: string, at: number): number {
  const mail = scanMailAddress(text, at + 1);
  const end = mail === -1 ? scanAddress(text, at + 1) : mail;
  return end !== -1 && text.charCodeAt(end) === GREATER_THAN ? end + 1 : -1;
}

function scanAddress(text: string, at: number): number {
  if (!isLetter(text.charCodeAt(at))) return -1;
  let i = at + 1;
  while (isSchemePart(text.charCodeAt(i))) i++;
  const length = i - at;
  if (text.charCodeAt(i) !== COLON || length < 2 || length > LONGEST_SCHEME) return -1;
  for (i++; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code <= SPACE || code === LESS_THAN || code === GREATER_THAN) break;
  }
  return i;
}

function scanMailAddress(text: string, at: number): number {
  let i = at;
  while (isMailboxPart(text.charCodeAt(i))) i++;
  if (i === at || text.charCodeAt(i) !== AT_SIGN) return -1;
  do {
    const start = i + 1;
    i = start;
    while (isAlphanumeric(text.charCodeAt(i)) || text.charCodeAt(i) === MINUS) i++;
    const fits = i > start && i - start <= LONGEST_LABEL;
    if (!fits || text.charCodeAt(start) === MINUS || text.charCodeAt(i - 1) === MINUS) return -1;
  } while (text.charCodeAt(i) === DOT);
  return i;
}

function isSchemePart(code: number): boolean {
  return isAlphanumeric(code) || code === DOT || code === PLUS || code === MINUS;
}

function isMailboxPart(code: number): boolean {
  return isAlphanumeric(code) || (isAsciiPunctuation(code) && !NOT_IN_MAILBOX.has(code));
}
