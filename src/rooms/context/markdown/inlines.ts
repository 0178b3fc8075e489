import { scanAutolink } from "./autolink.ts";
import {
  AMPERSAND,
  ASTERISK,
  BACKSLASH,
  BACKTICK,
  BANG,
  CLOSE_BRACKET,
  isAsciiPunctuation,
  LESS_THAN,
  LINE_FEED,
  OPEN_BRACKET,
  UNDERSCORE,
} from "./characters.ts";
import { CodeSpans, isPadded, skipBackticks } from "./code-spans.ts";
import { DelimiterStack } from "./emphasis.ts";
import { decodeEntity, scanEntity } from "./entities.ts";
import { Label, toLabel } from "./label.ts";
import { LinkTargets } from "./link-target.ts";
import { RawHtml } from "./raw-html.ts";

const MARKUP = new Uint8Array(128);
for (const special of "`[]\\!<&*_") MARKUP[special.charCodeAt(0)] = 1;

const SHOWN = 0;
const HIDDEN = 1;
const REPLACED = 2;

/**
 * What the inlines of a heading show, with an empty set of link reference definitions: markup goes, its content
 * stays, line breaks are spaces, raw HTML is nothing. Cost: linear in the subject.
 */
export function flattenInlines(subject: string): string {
  const at = skipPlain(subject, 0);
  return at === subject.length ? toLabel(subject) : new InlineFlattener(subject).flatten(at);
}

function skipPlain(text: string, at: number): number {
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
  /** What becomes of each character. */
  private readonly fate: Uint8Array;
  private readonly replacements = new Map<number, string>();
  private readonly code: CodeSpans;
  private readonly delimiters: DelimiterStack;
  private readonly targets: LinkTargets;
  private html: RawHtml | null = null;
  /** Opening brackets that may begin a link or an image, and the topmost delimiter run at each. */
  private readonly brackets: number[] = [];
  private readonly bracketRuns: number[] = [];
  /** Brackets below this depth cannot begin a link any more: links do not hold links. */
  private closedToLinks = 0;

  constructor(text: string) {
    this.text = text;
    this.fate = new Uint8Array(text.length);
    this.code = new CodeSpans(text);
    this.delimiters = new DelimiterStack(text);
    this.targets = new LinkTargets(text);
  }

  /** The label of the text, whose first markup is at an offset. */
  flatten(first: number): string {
    let at = first;
    while (at < this.text.length) at = this.takeInline(at);
    this.delimiters.pairAbove(-1);
    this.delimiters.eachUsed((from, to) => this.hide(from, to));
    return this.show();
  }

  private show(): string {
    const { text, fate } = this;
    const label = new Label();
    let at = 0;
    while (at < text.length && !label.isFull) {
      const kind = fate[at];
      if (kind === SHOWN) {
        const end = nextOther(fate, at);
        label.add(text, at, end);
        at = end;
        continue;
      }
      if (kind === REPLACED) {
        const replacement = this.replacements.get(at)!;
        label.add(replacement, 0, replacement.length);
      }
      at++;
    }
    return label.toString();
  }

  private hide(from: number, to: number): void {
    this.fate.fill(HIDDEN, from, to);
  }

  /** Takes in the inline at an offset and returns where the next one starts. */
  private takeInline(at: number): number {
    const { text } = this;
    switch (text.charCodeAt(at)) {
      case BACKSLASH:
        return this.takeEscape(at);
      case BACKTICK:
        return this.takeCode(at);
      case ASTERISK:
      case UNDERSCORE:
        return this.takeDelimiters(at);
      case OPEN_BRACKET:
        return this.openBracket(at, at + 1);
      case BANG:
        return text.charCodeAt(at + 1) === OPEN_BRACKET ? this.openBracket(at, at + 2) : at + 1;
      case CLOSE_BRACKET:
        return this.closeBracket(at);
      case LESS_THAN:
        return this.takeAngle(at);
      case AMPERSAND:
        return this.takeEntity(at);
      default:
        return skipPlain(text, at);
    }
  }

  private takeEscape(at: number): number {
    const code = this.text.charCodeAt(at + 1);
    if (code !== LINE_FEED && !isAsciiPunctuation(code)) return at + 1;
    this.hide(at, at + 1);
    return at + 2;
  }

  private takeCode(at: number): number {
    const open = skipBackticks(this.text, at);
    const close = this.code.nextRun(open - at, open);
    if (close === -1) return open;
    const end = close + open - at;
    const padding = isPadded(this.text, open, close) ? 1 : 0;
    this.hide(at, open + padding);
    this.hide(close - padding, end);
    return end;
  }

  private takeDelimiters(at: number): number {
    const code = this.text.charCodeAt(at);
    let end = at + 1;
    while (this.text.charCodeAt(end) === code) end++;
    this.delimiters.push(at, end);
    return end;
  }

  private takeAngle(at: number): number {
    const address = scanAutolink(this.text, at);
    if (address !== -1) {
      this.hide(at, at + 1);
      this.hide(address - 1, address);
      return address;
    }
    this.html ??= new RawHtml(this.text);
    const end = this.html.endOf(at);
    if (end === -1) return at + 1;
    this.hide(at, end);
    return end;
  }

  private takeEntity(at: number): number {
    const end = scanEntity(this.text, at);
    if (end === -1) return at + 1;
    this.replacements.set(at, decodeEntity(this.text.slice(at, end)));
    this.hide(at, end);
    this.fate[at] = REPLACED;
    return end;
  }

  private openBracket(at: number, end: number): number {
    this.brackets.push(at);
    this.bracketRuns.push(this.delimiters.top);
    return end;
  }

  private closeBracket(at: number): number {
    const { text, brackets, bracketRuns } = this;
    const opener = brackets.pop();
    const run = bracketRuns.pop();
    if (opener === undefined || run === undefined) return at + 1;
    const depth = brackets.length;
    const isImage = text.charCodeAt(opener) === BANG;
    const isClosed = !isImage && depth < this.closedToLinks;
    if (depth < this.closedToLinks) this.closedToLinks = depth;
    const end = isClosed ? -1 : this.targets.endOf(at + 1);
    if (end === -1) return at + 1;
    this.hide(opener, opener + (isImage ? 2 : 1));
    this.hide(at, end);
    this.delimiters.pairAbove(run);
    if (!isImage) this.closedToLinks = depth;
    return end;
  }
}

/** The offset of the next character with another fate. */
function nextOther(fate: Uint8Array, at: number): number {
  let end = at + 1;
  while (end < fate.length && fate[end] === SHOWN) end++;
  return end;
}
