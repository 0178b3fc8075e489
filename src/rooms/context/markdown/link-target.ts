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

/**
 * Parentheses of a stretch without white space in which a destination was left open. Later destinations in the same
 * stretch are answered from here, so that all attempts on one text together stay linear.
 */
export interface OpenStretch {
  readonly from: number;
  readonly to: number;
  /** Closing parenthesis of each opening one that has one. */
  readonly closes: ReadonlyMap<number, number>;
  readonly lastOpen: number;
}

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
export function isTargetSpace(code: number): boolean {
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

/** The end of the bare link destination at an offset; `depth` tells how many parentheses are open there. */
export function scanBareDestination(text: string, at: number): { readonly end: number; readonly depth: number } {
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
  return { end: i, depth };
}

/** Pairs the parentheses of the stretch from one that stays open to its end. */
export function pairParentheses(text: string, from: number, to: number): OpenStretch {
  const closes = new Map<number, number>();
  const open: number[] = [];
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i);
    if (code === OPEN_PAREN) open.push(i);
    else if (code === CLOSE_PAREN) {
      const opener = open.pop();
      if (opener !== undefined) closes.set(opener, i);
    } else if (code === BACKSLASH && isAsciiPunctuation(text.charCodeAt(i + 1))) i++;
  }
  return { from, to, closes, lastOpen: open.at(-1) ?? -1 };
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
