import {
  ASTERISK,
  BACKTICK,
  EQUALS,
  GREATER_THAN,
  HASH_SIGN,
  isDigit,
  LESS_THAN,
  MINUS,
  PLUS,
  SPACE,
  TAB,
  TILDE,
  UNDERSCORE,
} from "./characters.ts";
import { endsHtmlBlock, type HtmlKind, htmlBlockKind } from "./html-block.ts";
import {
  atxContent,
  atxLevel,
  closesFence,
  fenceLength,
  interruptsParagraph,
  listMarkerLength,
  setextLevel,
} from "./leaf-lines.ts";
import { LineCursor } from "./line-cursor.ts";
import { Paragraph } from "./paragraph.ts";

/** Receives a heading that is a direct child of the document, before its inlines are parsed. */
type HeadingSink = (level: number, line: number, offset: number, content: string) => void;

type Leaf = 0 | 1 | 2 | 3 | 4;
const NO_LEAF: Leaf = 0;
const PARAGRAPH: Leaf = 1;
const FENCED_CODE: Leaf = 2;
const INDENTED_CODE: Leaf = 3;
const HTML: Leaf = 4;

const CODE_INDENT = 4;
const QUOTE = 0;

// ASCII characters that cannot change block structure at the start of a line: they only begin or continue paragraphs.
const PLAIN = new Uint8Array(128).fill(1);
for (const special of "\t\n #`~*+_=<>[0123456789-") PLAIN[special.charCodeAt(0)] = 0;

/**
 * Block structure of CommonMark 0.31.2 as far as headings depend on it, line by line, as the reference implementation
 * reads it. Cost: linear in the text; closing and matching containers is paid for by the characters that made them.
 */
export class BlockScanner {
  /** Number of the current line. */
  line: number;
  private readonly text: string;
  private readonly found: HeadingSink;
  private readonly cursor: LineCursor;
  /** Open containers, outermost first: 0 is a block quote, anything else a list item and the columns it asks for. */
  private readonly containers: number[] = [];
  /** Depths at which the block quotes among them stand. */
  private readonly quotes: number[] = [];
  /** The innermost container is a list item that holds nothing yet. */
  private emptyItem = false;
  private leaf: Leaf = NO_LEAF;
  private fenceMarker = 0;
  private fenceSize = 0;
  private htmlKind: HtmlKind = 0;
  private readonly paragraph: Paragraph;

  constructor(text: string, line: number, found: HeadingSink) {
    this.text = text;
    this.found = found;
    this.line = line;
    this.cursor = new LineCursor(text);
    this.paragraph = new Paragraph(text);
  }

  /** Takes in the line `at..end`, its terminator not included. */
  takeLine(at: number, end: number): void {
    if (this.containers.length === 0) {
      if (this.leaf <= PARAGRAPH) {
        if (at === end) {
          this.leaf = NO_LEAF;
          return;
        }
        const code = this.text.charCodeAt(at);
        if (code >= 128 || PLAIN[code] === 1) {
          if (this.leaf === NO_LEAF) this.openParagraph(at, at, end);
          return;
        }
      } else if (this.leaf === FENCED_CODE) {
        const code = this.text.charCodeAt(at);
        if (code !== this.fenceMarker && code !== SPACE && code !== TAB) return;
      }
    }
    this.cursor.startLine(at, end);
    const matched = this.matchContainers();
    if (matched === this.containers.length && this.continuesLeaf()) return;
    if (this.cursor.isBlank) this.closeTo(matched);
    else this.startBlocks(at, matched);
  }

  /** How many containers go on in this line. */
  private matchContainers(): number {
    const { containers, quotes, cursor, text } = this;
    let quotesPassed = 0;
    let depth = 0;
    while (depth < containers.length) {
      const columns = containers[depth]!;
      if (columns === QUOTE) {
        if (cursor.indent >= CODE_INDENT || cursor.isBlank || text.charCodeAt(cursor.next) !== GREATER_THAN) break;
        cursor.skipMarker(1);
        cursor.skipBlank();
        quotesPassed++;
      } else if (cursor.isBlank) {
        // A blank line goes on through all list items up to the next block quote, except through an empty one.
        const reached = quotes[quotesPassed] ?? containers.length;
        return reached === containers.length && this.emptyItem ? reached - 1 : reached;
      } else if (cursor.indent >= columns) cursor.column += columns;
      else break;
      depth++;
    }
    return depth;
  }

  /** Whether the line belongs to the open leaf and nothing else; a leaf that it ends is closed. */
  private continuesLeaf(): boolean {
    const { cursor, text } = this;
    switch (this.leaf) {
      case FENCED_CODE:
        if (
          cursor.indent < CODE_INDENT &&
          closesFence(text, cursor.next, cursor.end, this.fenceMarker, this.fenceSize)
        ) {
          this.leaf = NO_LEAF;
        }
        return true;
      case INDENTED_CODE:
        if (cursor.indent >= CODE_INDENT || cursor.isBlank) return true;
        this.leaf = NO_LEAF;
        return false;
      case HTML:
        if (cursor.isBlank && this.htmlKind >= 6) this.leaf = NO_LEAF;
        else if (endsHtmlBlock(this.htmlKind, text, cursor.next, cursor.end)) this.leaf = NO_LEAF;
        return true;
      case PARAGRAPH:
        if (cursor.isBlank) this.leaf = NO_LEAF;
        return false;
      default:
        return false;
    }
  }

  /** Opens the blocks that start in a line that is not blank; what is left is text. */
  private startBlocks(at: number, matched: number): void {
    const { cursor, text } = this;
    let depth = matched;
    // A paragraph below containers that do not go on stays open until a block starts: its text may be lazy.
    while (!cursor.isBlank && cursor.indent < CODE_INDENT) {
      const code = text.charCodeAt(cursor.next);
      if (code === GREATER_THAN) {
        cursor.skipMarker(1);
        cursor.skipBlank();
        this.openContainer(depth, QUOTE);
      } else if (this.startLeaf(code, depth, at)) return;
      else if (!this.startItem(code, depth)) break;
      depth = this.containers.length;
    }
    if (cursor.isBlank) return;
    if (cursor.indent >= CODE_INDENT && this.leaf !== PARAGRAPH) this.openLeaf(depth, INDENTED_CODE);
    else this.addText(depth, at);
  }

  private addText(depth: number, at: number): void {
    const { next, end } = this.cursor;
    if (this.leaf === PARAGRAPH) {
      this.paragraph.add(next, end);
      return;
    }
    this.closeTo(depth);
    this.openParagraph(at, next, end);
  }

  private startLeaf(code: number, depth: number, at: number): boolean {
    const { cursor, text } = this;
    const { next, end } = cursor;
    switch (code) {
      case HASH_SIGN: {
        const level = atxLevel(text, next, end);
        if (level === 0) return false;
        this.openLeaf(depth, NO_LEAF);
        if (depth === 0) this.found(level, this.line, at, atxContent(text, next + level, end));
        return true;
      }
      case BACKTICK:
      case TILDE: {
        const size = fenceLength(text, next, end);
        if (size === 0) return false;
        this.openLeaf(depth, FENCED_CODE);
        this.fenceMarker = code;
        this.fenceSize = size;
        return true;
      }
      case LESS_THAN: {
        const kind = htmlBlockKind(text, next, end);
        if (kind === 0 || (kind === 7 && this.leaf === PARAGRAPH)) return false;
        this.openLeaf(depth, endsHtmlBlock(kind, text, next, end) ? NO_LEAF : HTML);
        this.htmlKind = kind;
        return true;
      }
      case EQUALS:
        return this.startSetext(depth, at);
      case MINUS:
        if (this.startSetext(depth, at)) return true;
        break;
      case ASTERISK:
      case UNDERSCORE:
        break;
      default:
        return false;
    }
    if (!cursor.isThematicBreak()) return false;
    this.openLeaf(depth, NO_LEAF);
    return true;
  }

  private startSetext(depth: number, at: number): boolean {
    const { cursor, text, containers } = this;
    if (this.leaf !== PARAGRAPH || depth !== containers.length) return false;
    const level = setextLevel(text, cursor.next, cursor.end);
    if (level === 0) return false;
    const content = this.paragraph.contentAbove(at);
    if (content === "") return false;
    if (depth === 0) this.found(level, this.paragraph.line, this.paragraph.offset, content);
    this.leaf = NO_LEAF;
    return true;
  }

  private startItem(code: number, depth: number): boolean {
    if (code !== MINUS && code !== ASTERISK && code !== PLUS && !isDigit(code)) return false;
    const { cursor, text } = this;
    const { next, end } = cursor;
    const length = listMarkerLength(text, next, end);
    if (length === 0) return false;
    const inParagraph = this.leaf === PARAGRAPH && depth === this.containers.length;
    if (inParagraph && !interruptsParagraph(text, next, length, end)) return false;
    const indent = cursor.indent;
    cursor.skipMarker(length);
    const blanks = cursor.indent;
    const padding = cursor.isBlank || blanks > 4 ? 1 : blanks;
    if (padding === 1) cursor.skipBlank();
    else cursor.column += padding;
    this.openContainer(depth, indent + length + padding);
    this.emptyItem = true;
    return true;
  }

  private openContainer(depth: number, columns: number): void {
    this.openLeaf(depth, NO_LEAF);
    if (columns === QUOTE) this.quotes.push(depth);
    this.containers.push(columns);
  }

  private openLeaf(depth: number, leaf: Leaf): void {
    this.closeTo(depth);
    this.leaf = leaf;
    this.emptyItem = false;
  }

  private openParagraph(at: number, next: number, end: number): void {
    this.leaf = PARAGRAPH;
    this.emptyItem = false;
    this.paragraph.open(this.line, at, next, end, this.containers.length > 0);
  }

  /** Closes the open leaf and all containers below a depth. */
  private closeTo(depth: number): void {
    const { containers, quotes } = this;
    this.leaf = NO_LEAF;
    if (depth === containers.length) return;
    this.emptyItem = false;
    while (containers.length > depth) containers.pop();
    while (quotes.length > 0 && quotes[quotes.length - 1]! >= depth) quotes.pop();
  }
}
