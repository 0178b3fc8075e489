import { BACKSLASH, CLOSE_BRACKET, COLON, LESS_THAN, LINE_FEED, OPEN_BRACKET } from "./characters.ts";
import {
  scanBareDestination,
  scanBracketedDestination,
  scanTitle,
  skipSpaces,
  skipSpacesAndBreak,
} from "./link-target.ts";

const LONGEST_LABEL = 1001;

/** The offset after the link reference definitions at the head of a paragraph; 0 when there are none. */
export function skipDefinitions(content: string): number {
  let at = 0;
  while (content.charCodeAt(at) === OPEN_BRACKET) {
    const end = definitionEnd(content, at);
    if (end === -1) break;
    at = end;
  }
  return at;
}

function definitionEnd(content: string, at: number): number {
  const label = labelEnd(content, at);
  if (label === -1 || content.charCodeAt(label) !== COLON) return -1;
  const target = skipSpacesAndBreak(content, label + 1);
  const bracketed = content.charCodeAt(target) === LESS_THAN;
  const destination = bracketed ? scanBracketedDestination(content, target) : scanBareDestination(content, target);
  if (destination < 0) return -1;
  const gap = skipSpacesAndBreak(content, destination);
  // A title that does not end its line is none; the definition may still end before it.
  const title = gap === destination ? -1 : scanTitle(content, gap);
  const withTitle = title === -1 ? -1 : lineEnd(content, title);
  return withTitle === -1 ? lineEnd(content, destination) : withTitle;
}

/** The end of the label in brackets at an offset, or -1: it is not blank and holds at most 999 characters. */
function labelEnd(content: string, at: number): number {
  for (let i = at + 1; i < content.length && i - at < LONGEST_LABEL; i++) {
    const code = content.charCodeAt(i);
    if (code === CLOSE_BRACKET) return content.slice(at + 1, i).trim() === "" ? -1 : i + 1;
    if (code === OPEN_BRACKET) return -1;
    if (code === BACKSLASH) i++;
  }
  return -1;
}

/** The start of the next line when only spaces stand before the end of this one, or -1. */
function lineEnd(content: string, at: number): number {
  const i = skipSpaces(content, at);
  if (i === content.length) return i;
  return content.charCodeAt(i) === LINE_FEED ? i + 1 : -1;
}
