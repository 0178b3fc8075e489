import { BACKSLASH, CLOSE_BRACKET, COLON, isBlank, LESS_THAN, LINE_FEED, OPEN_BRACKET } from "./characters.ts";
import {
  scanBareDestination,
  scanBracketedDestination,
  scanTitle,
  skipSpaces,
  skipSpacesAndBreak,
} from "./link-target.ts";

const INDENTS = /(^|\n)[ \t]+/g;

/** The paragraph that is open, as far as a setext heading may come of it. */
export class Paragraph {
  /** Its first line and where that begins. */
  line = 0;
  offset = 0;
  private readonly text: string;
  private isNested = false;
  /** Where its content begins: definitions at its head are no longer part of it once an underline was seen. */
  private contentOffset = 0;
  /** It begins with `[`, so link reference definitions may stand at its head. */
  private mayDefine = false;
  /** Starts and ends of its lines, which are needed when it may define something inside containers. */
  private lines: number[] | null = null;

  constructor(text: string) {
    this.text = text;
  }

  /** Begins with the line at an offset, whose text is `next..end`. */
  open(line: number, at: number, next: number, end: number, isNested: boolean): void {
    this.line = line;
    this.offset = at;
    this.isNested = isNested;
    this.contentOffset = at;
    this.mayDefine = this.text.charCodeAt(next) === OPEN_BRACKET;
    this.lines = this.mayDefine && isNested ? [next, end] : null;
  }

  /** Goes on with the text `next..end` of another line. */
  add(next: number, end: number): void {
    this.lines?.push(next, end);
  }

  /** What an underline at an offset makes a heading of: the lines above, without definitions at their head. */
  contentAbove(at: number): string {
    const { text, lines } = this;
    // Only headings of the document itself are kept; for others it is enough that there is a text.
    if (this.isNested && lines === null) return "text";
    const content = lines === null ? stripIndents(text.slice(this.contentOffset, at)) : joinLines(text, lines);
    if (!this.mayDefine) return content;
    const rest = content.slice(skipDefinitions(content.replaceAll("\0", "\ufffd")));
    if (rest === "") {
      this.mayDefine = false;
      this.lines = null;
      this.contentOffset = at;
    }
    return rest;
  }
}

function joinLines(text: string, lines: readonly number[]): string {
  let content = "";
  for (let i = 0; i < lines.length; i += 2) content += `${text.slice(lines[i], lines[i + 1])}\n`;
  return content;
}

function stripIndents(content: string): string {
  const isIndented = isBlank(content.charCodeAt(0)) || content.includes("\n ") || content.includes("\n\t");
  return isIndented ? content.replace(INDENTS, "$1") : content;
}

const LONGEST_LABEL = 1001;

/** The offset after the link reference definitions at the head of a paragraph; 0 when there are none. */
function skipDefinitions(content: string): number {
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
