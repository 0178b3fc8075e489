import { isBlank, OPEN_BRACKET } from "./characters.ts";
import { skipDefinitions } from "./reference-definitions.ts";

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
