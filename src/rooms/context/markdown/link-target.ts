import {
  BACKSLASH,
  CLOSE_PAREN,
  DOUBLE_QUOTE,
  GREATER_THAN,
  isAsciiPunctuation,
  LESS_THAN,
  LINE_FEED,
  OPEN_PAREN,
  SINGLE_QUOTE,
  SPACE,
} from "./characters.ts";

/** Skips spaces and at most one line feed. */
export function skipSpacesAndBreak(text: string, at: number): number {
  let i = skipSpaces(text, at);
  if (text.charCodeAt(i) === LINE_FEED) i = skipSpaces(text, i + 1);
  return i;
}

/** Skips spaces. */
export function skipSpaces(text: string, at: number): number {
  let i = at;
  while (text.charCodeAt(i) === SPACE) i++;
  return i;
}

/** White space that ends a destination; the reference counts only that of ASCII. */
function isTargetSpace(code: number): boolean {
  return code === SPACE || (code >= 9 && code <= 13);
}

/** The end of the link destination in angle brackets at an offset, or -1. */
export function scanBracketedDestination(text: string, at: number): number {
  let i = at + 1;
  while (i < text.length) {
    const code = text.charCodeAt(i);
    if (code === GREATER_THAN) return i + 1;
    if (code === LESS_THAN || code === LINE_FEED) return -1;
    if (code === BACKSLASH) {
      i++;
      if (i === text.length || isLineTerminator(text.charCodeAt(i))) return -1;
    }
    i++;
  }
  return -1;
}

/** The end of the bare link destination at an offset, or -1; `~end` when a parenthesis is open at its end. */
export function scanBareDestination(text: string, at: number): number {
  let depth = 0;
  let i = at;
  while (i < text.length) {
    const code = text.charCodeAt(i);
    if (isTargetSpace(code)) break;
    if (code === OPEN_PAREN) depth++;
    else if (code === CLOSE_PAREN) {
      if (depth === 0) break;
      depth--;
    } else if (code === BACKSLASH && isAsciiPunctuation(text.charCodeAt(i + 1))) i++;
    i++;
  }
  if (depth > 0) return ~i;
  return i === at && text.charCodeAt(at) !== CLOSE_PAREN ? -1 : i;
}

/** The end of the link title at an offset, or -1. */
export function scanTitle(text: string, at: number): number {
  const opener = text.charCodeAt(at);
  if (opener !== DOUBLE_QUOTE && opener !== SINGLE_QUOTE && opener !== OPEN_PAREN) return -1;
  const closer = opener === OPEN_PAREN ? CLOSE_PAREN : opener;
  for (let i = at + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === closer) return i + 1;
    if (code === OPEN_PAREN && opener === OPEN_PAREN) return -1;
    if (code === BACKSLASH) i++;
  }
  return -1;
}

function isLineTerminator(code: number): boolean {
  return code === LINE_FEED || code === 13 || code === 0x2028 || code === 0x2029;
}

/** Finds the targets of inline links in one text, all of them together in linear time. */
export class LinkTargets {
  private readonly text: string;
  /**
   * A stretch without white space in which a destination was left open, and for each of its opening parentheses where
   * a destination after it ends. Later destinations in the same stretch are answered from here.
   */
  private stretchFrom = 0;
  private destinations: Int32Array | null = null;

  constructor(text: string) {
    this.text = text;
  }

  /** The end of the target in parentheses at an offset, or -1. */
  endOf(at: number): number {
    const { text } = this;
    if (text.charCodeAt(at) !== OPEN_PAREN) return -1;
    const destination = this.destinationEnd(skipSpacesAndBreak(text, at + 1));
    if (destination < 0) return -1;
    let end = skipSpacesAndBreak(text, destination);
    const title = isTargetSpace(text.charCodeAt(end - 1)) ? scanTitle(text, end) : -1;
    if (title !== -1) end = skipSpacesAndBreak(text, title);
    return text.charCodeAt(end) === CLOSE_PAREN ? end + 1 : -1;
  }

  private destinationEnd(at: number): number {
    const { text, destinations, stretchFrom } = this;
    if (text.charCodeAt(at) === LESS_THAN) return scanBracketedDestination(text, at);
    const known = at - 1 - stretchFrom;
    if (destinations !== null && known >= 0 && known < destinations.length && text.charCodeAt(at - 1) === OPEN_PAREN) {
      return destinations[known]!;
    }
    const end = scanBareDestination(text, at);
    if (end < -1) {
      this.stretchFrom = at;
      this.destinations = pairParentheses(text, at, ~end);
    }
    return end;
  }
}

/** Where a destination ends that begins after each opening parenthesis of a stretch, or -1. */
function pairParentheses(text: string, from: number, to: number): Int32Array {
  const ends = new Int32Array(to - from).fill(-1);
  const open: number[] = [];
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i);
    if (code === OPEN_PAREN) open.push(i);
    else if (code === CLOSE_PAREN) ends[open.pop()! - from] = i;
    else if (code === BACKSLASH && isAsciiPunctuation(text.charCodeAt(i + 1))) i++;
  }
  // Only after the last one that stays open is the rest of the stretch balanced; it must not be empty.
  const last = open.at(-1);
  if (last !== undefined && last + 1 < to) ends[last - from] = to;
  return ends;
}
