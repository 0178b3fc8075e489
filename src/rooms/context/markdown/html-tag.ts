import {
  BACKTICK,
  COLON,
  DOT,
  DOUBLE_QUOTE,
  EQUALS,
  GREATER_THAN,
  isAlphanumeric,
  isLetter,
  isSpace,
  LESS_THAN,
  MINUS,
  SINGLE_QUOTE,
  SLASH,
  UNDERSCORE,
} from "./characters.ts";

// Places inside an open tag, as bits: white space beyond ASCII both separates attributes and belongs to a bare
// value, so a prefix of a tag can be in several places at once.
const IN_TAG_NAME = 1;
const IN_GAP = 2;
const IN_NAME = 4;
const AFTER_NAME = 8;
const AFTER_EQUALS = 16;
const IN_BARE_VALUE = 32;
const AFTER_QUOTED = 64;
const AFTER_SLASH = 128;

const MAY_CLOSE = IN_TAG_NAME | IN_GAP | IN_NAME | AFTER_NAME | AFTER_QUOTED;
const NUL = 0;

/**
 * The end of the open or closing tag that starts with `<` at an offset, or -1.
 * `dead` holds quotes that were opened before: from those no tag ends, or they are behind a tag that did. With it all
 * attempts on one text together stay linear.
 */
export function scanTag(text: string, at: number, end: number, dead?: Set<number>): number {
  const first = text.charCodeAt(at + 1);
  if (first === SLASH) return scanClosingTag(text, at + 2, end);
  if (at + 1 >= end || !isLetter(first)) return -1;
  return scanOpenTag(text, at + 2, end, dead);
}

function scanClosingTag(text: string, at: number, end: number): number {
  if (at >= end || !isLetter(text.charCodeAt(at))) return -1;
  let i = at + 1;
  while (i < end && isTagNamePart(text.charCodeAt(i))) i++;
  while (i < end && isSpace(text.charCodeAt(i))) i++;
  return i < end && text.charCodeAt(i) === GREATER_THAN ? i + 1 : -1;
}

function scanOpenTag(text: string, at: number, end: number, dead?: Set<number>): number {
  let places = IN_TAG_NAME;
  let i = at;
  while (i < end) {
    const code = text.charCodeAt(i);
    if (code === GREATER_THAN) return (places & ~AFTER_EQUALS) === 0 ? -1 : i + 1;
    if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) {
      if ((places & AFTER_EQUALS) === 0 || dead?.has(i) === true) return -1;
      dead?.add(i);
      const close = text.indexOf(code === DOUBLE_QUOTE ? '"' : "'", i + 1);
      if (close === -1 || close >= end) return -1;
      places = AFTER_QUOTED;
      i = close + 1;
      continue;
    }
    places = nextPlaces(places, code);
    if (places === 0) return -1;
    i++;
  }
  return -1;
}

function nextPlaces(places: number, code: number): number {
  if (isSpace(code)) {
    let next = places & AFTER_EQUALS;
    if ((places & (IN_TAG_NAME | IN_GAP | IN_BARE_VALUE | AFTER_QUOTED)) !== 0) next |= IN_GAP;
    if ((places & (IN_NAME | AFTER_NAME)) !== 0) next |= AFTER_NAME;
    if (code > 32 && (places & (AFTER_EQUALS | IN_BARE_VALUE)) !== 0) next |= IN_BARE_VALUE;
    return next;
  }
  if (code === EQUALS) return (places & (IN_NAME | AFTER_NAME)) === 0 ? 0 : AFTER_EQUALS;
  // NUL stands for U+FFFD here: the reference replaces it before it looks for tags.
  if (code === LESS_THAN || code === BACKTICK || (code < 32 && code !== NUL)) return 0;
  let next = (places & (AFTER_EQUALS | IN_BARE_VALUE)) === 0 ? 0 : IN_BARE_VALUE;
  if (code === SLASH) return (places & MAY_CLOSE) === 0 ? next : next | AFTER_SLASH;
  if ((places & IN_TAG_NAME) !== 0 && isTagNamePart(code)) next |= IN_TAG_NAME;
  if ((places & IN_NAME) !== 0 && isNamePart(code)) next |= IN_NAME;
  if ((places & (IN_GAP | AFTER_NAME)) !== 0 && isNameStart(code)) next |= IN_NAME;
  return next;
}

function isTagNamePart(code: number): boolean {
  return isAlphanumeric(code) || code === MINUS;
}

function isNameStart(code: number): boolean {
  return isLetter(code) || code === UNDERSCORE || code === COLON;
}

function isNamePart(code: number): boolean {
  return isAlphanumeric(code) || code === UNDERSCORE || code === COLON || code === DOT || code === MINUS;
}
