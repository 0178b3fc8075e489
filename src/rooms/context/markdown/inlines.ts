import { scanAutolink } from "./autolink.ts";
import {
  AMPERSAND,
  ASTERISK,
  BACKSLASH,
  BACKTICK,
  BANG,
  CLOSE_BRACKET,
  CLOSE_PAREN,
  isAsciiPunctuation,
  LESS_THAN,
  LINE_FEED,
  OPEN_BRACKET,
  OPEN_PAREN,
  UNDERSCORE,
} from "./characters.ts";
import { CodeSpans, codeText, skipBackticks } from "./code-spans.ts";
import { type DelimiterRun, DelimiterStack } from "./emphasis.ts";
import { decodeEntity, scanEntity } from "./entities.ts";
import {
  isTargetSpace,
  type OpenStretch,
  pairParentheses,
  scanBareDestination,
  scanBracketedDestination,
  scanTitle,
  skipSpacesAndBreak,
} from "./link-target.ts";
import { RawHtml } from "./raw-html.ts";

const MARKUP = new Uint8Array(128);
for (const special of "\n`[]\\!<&*_") MARKUP[special.charCodeAt(0)] = 1;

/** An opening bracket that may turn out to begin a link or an image. */
interface Bracket {
  readonly piece: number;
  readonly image: boolean;
  readonly delimiter: DelimiterRun | null;
}

/**
 * The text that CommonMark inlines show, with an empty set of link reference definitions: markup goes, its content
 * stays, line breaks are spaces, raw HTML is nothing. Cost: linear in the subject.
 */
export function flattenInlines(subject: string): string {
  return plainEnd(subject, 0) === subject.length ? subject : new InlineFlattener(subject).flatten();
}

function plainEnd(text: string, at: number): number {
  let i = at;
  while (i < text.length) {
    const code = text.charCodeAt(i);
    if (code < 128 && MARKUP[code] === 1) break;
    i++;
  }
  return i;
}

class InlineFlattener {
  private readonly text: string;
  private html: RawHtml | null = null;
  private readonly code: CodeSpans;
  private readonly delimiters = new DelimiterStack();
  /** What each inline shows, in order; runs of delimiters are filled in at the end. */
  private readonly pieces: (string | DelimiterRun)[] = [];
  private readonly brackets: Bracket[] = [];
  /** Brackets below this depth cannot begin a link any more: links do not hold links. */
  private closedToLinks = 0;
  private stretch: OpenStretch | null = null;

  constructor(text: string) {
    this.text = text;
    this.code = new CodeSpans(text);
  }

  flatten(): string {
    let at = 0;
    while (at < this.text.length) at = this.takeInline(at);
    this.delimiters.pairAbove(null);
    let shown = "";
    for (const piece of this.pieces) shown += typeof piece === "string" ? piece : showRun(piece);
    return shown;
  }

  /** Takes in the inline at an offset and returns where the next one starts. */
  private takeInline(at: number): number {
    switch (this.text.charCodeAt(at)) {
      case LINE_FEED:
        return this.show(" ", at + 1);
      case BACKSLASH:
        return this.takeEscape(at);
      case BACKTICK:
        return this.takeCode(at);
      case ASTERISK:
      case UNDERSCORE:
        return this.takeDelimiters(at);
      case OPEN_BRACKET:
        return this.openBracket("[", false, at);
      case BANG:
        if (this.text.charCodeAt(at + 1) === OPEN_BRACKET) return this.openBracket("![", true, at);
        return this.show("!", at + 1);
      case CLOSE_BRACKET:
        return this.closeBracket(at + 1);
      case LESS_THAN:
        return this.takeAngle(at);
      case AMPERSAND:
        return this.takeEntity(at);
      default: {
        const end = plainEnd(this.text, at);
        return this.show(this.text.slice(at, end), end);
      }
    }
  }

  private show(piece: string, next: number): number {
    this.pieces.push(piece);
    return next;
  }

  private takeEscape(at: number): number {
    const code = this.text.charCodeAt(at + 1);
    if (code === LINE_FEED) return this.show(" ", at + 2);
    if (isAsciiPunctuation(code)) return this.show(this.text.charAt(at + 1), at + 2);
    return this.show("\\", at + 1);
  }

  private takeCode(at: number): number {
    const open = skipBackticks(this.text, at);
    const close = this.code.nextRun(open - at, open);
    if (close === -1) return this.show(this.text.slice(at, open), open);
    return this.show(codeText(this.text.slice(open, close)), close + open - at);
  }

  private takeDelimiters(at: number): number {
    const code = this.text.charCodeAt(at);
    let end = at + 1;
    while (this.text.charCodeAt(end) === code) end++;
    this.pieces.push(this.delimiters.push(this.text, at, end) ?? this.text.slice(at, end));
    return end;
  }

  private takeAngle(at: number): number {
    const address = scanAutolink(this.text, at);
    if (address !== -1) return this.show(this.text.slice(at + 1, address - 1), address);
    this.html ??= new RawHtml(this.text);
    const end = this.html.endOf(at);
    return end === -1 ? this.show("<", at + 1) : end;
  }

  private takeEntity(at: number): number {
    const end = scanEntity(this.text, at);
    return end === -1 ? this.show("&", at + 1) : this.show(decodeEntity(this.text.slice(at, end)), end);
  }

  private openBracket(piece: string, image: boolean, at: number): number {
    this.brackets.push({ piece: this.pieces.length, image, delimiter: this.delimiters.top });
    return this.show(piece, at + piece.length);
  }

  private closeBracket(after: number): number {
    const opener = this.brackets.pop();
    if (opener === undefined) return this.show("]", after);
    const depth = this.brackets.length;
    const closed = !opener.image && depth < this.closedToLinks;
    if (depth < this.closedToLinks) this.closedToLinks = depth;
    const end = closed ? -1 : this.targetEnd(after);
    if (end === -1) return this.show("]", after);
    this.pieces[opener.piece] = "";
    this.delimiters.pairAbove(opener.delimiter);
    if (!opener.image) this.closedToLinks = depth;
    return end;
  }

  /** The end of the inline link target in parentheses at an offset, or -1. */
  private targetEnd(at: number): number {
    const { text } = this;
    if (text.charCodeAt(at) !== OPEN_PAREN) return -1;
    const destination = this.destinationEnd(skipSpacesAndBreak(text, at + 1));
    if (destination === -1) return -1;
    let end = skipSpacesAndBreak(text, destination);
    const title = isTargetSpace(text.charCodeAt(end - 1)) ? scanTitle(text, end) : -1;
    if (title !== -1) end = skipSpacesAndBreak(text, title);
    return text.charCodeAt(end) === CLOSE_PAREN ? end + 1 : -1;
  }

  private destinationEnd(at: number): number {
    const { text, stretch } = this;
    if (text.charCodeAt(at) === LESS_THAN) return scanBracketedDestination(text, at);
    const opener = at - 1;
    if (stretch !== null && opener >= stretch.from && opener < stretch.to && text.charCodeAt(opener) === OPEN_PAREN) {
      const end = stretch.closes.get(opener) ?? (opener === stretch.lastOpen ? stretch.to : -1);
      return end === at && text.charCodeAt(at) !== CLOSE_PAREN ? -1 : end;
    }
    const { end, depth } = scanBareDestination(text, at);
    if (depth > 0) {
      this.stretch = pairParentheses(text, at, end);
      return -1;
    }
    return end === at && text.charCodeAt(at) !== CLOSE_PAREN ? -1 : end;
  }
}

function showRun({ code, left }: DelimiterRun): string {
  return String.fromCharCode(code).repeat(left);
}
