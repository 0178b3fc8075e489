import { BlockScanner } from "../markdown/blocks.ts";
import { flattenInlines } from "../markdown/inlines.ts";

/** A heading that makes a section. */
export interface Heading {
  /** 1 to 6. */
  readonly level: number;
  /** First line, 0-based. */
  readonly line: number;
  /** Offset of the start of that line. */
  readonly offset: number;
  readonly text: string;
}

/** What block structure says about a Markdown text. */
export interface Outline {
  readonly headings: readonly Heading[];
  /** Number of lines of the text. */
  readonly lines: number;
}

/** Where block parsing begins: after a byte order mark and after front matter. */
interface Start {
  readonly line: number;
  readonly offset: number;
}

const BYTE_ORDER_MARK = 0xfeff;
const FENCE = /^---[ \t]*$/;

/** Receives a heading: see `Heading`. */
type TakeHeading = (level: number, line: number, offset: number, text: string) => void;

/**
 * The headings of a text: see `scanHeadings`.
 *
 * @example
 * findHeadings("# Tides\n\n## Low\n").headings.map(({ level, text }) => [level, text]); // => [[1, "Tides"], [2, "Low"]]
 */
export function findHeadings(text: string): Outline {
  const headings: Heading[] = [];
  const lines = scanHeadings(text, (level, line, offset, label) => {
    headings.push({ level, line, offset, text: label });
  });
  return { headings, lines };
}

/**
 * Hands over the headings of a text with folded line ends that are direct children of the document, as CommonMark
 * 0.31.2 has them, and gives the number of lines. A leading byte order mark and YAML front matter are not Markdown.
 * Cost: linear in the text.
 */
export function scanHeadings(text: string, take: TakeHeading): number {
  const start = findStart(text);
  const scanner = new BlockScanner(text, start.line, (level, line, offset, content) => {
    // The first line begins with the byte order mark, if there is one.
    take(level, line, line === 0 ? 0 : offset, toHeadingText(content));
  });
  let at = start.offset;
  while (at < text.length) {
    const lineFeed = text.indexOf("\n", at);
    const end = lineFeed === -1 ? text.length : lineFeed;
    scanner.takeLine(at, end);
    scanner.line++;
    at = end + 1;
  }
  // A byte order mark alone is a line, though nothing of it is left to scan.
  return text.length === 1 && start.offset === 1 ? 1 : scanner.line;
}

/** The label of a heading from its raw content, which only its own lines decide. */
function toHeadingText(content: string): string {
  return flattenInlines((content.includes("\0") ? content.replaceAll("\0", "\ufffd") : content).trim());
}

function findStart(text: string): Start {
  const offset = text.charCodeAt(0) === BYTE_ORDER_MARK ? 1 : 0;
  const start = { line: 0, offset };
  if (!text.startsWith("---", offset)) return start;
  let at = offset;
  for (let line = 0; at < text.length; line++) {
    const lineFeed = text.indexOf("\n", at);
    const end = lineFeed === -1 ? text.length : lineFeed;
    const isFence = text.startsWith("---", at) && FENCE.test(text.slice(at, end));
    if (line === 0 && !isFence) return start;
    at = end + 1;
    if (line > 0 && isFence) return { line: line + 1, offset: at };
  }
  return start;
}
