import { BANG, isLetter, QUESTION } from "./characters.ts";
import { scanTag } from "./html-tag.ts";

/** Finds raw HTML in one text. What was searched in vain once is not searched again, so all finds are linear. */
export class RawHtml {
  private readonly text: string;
  private readonly deadQuotes = new Set<number>();
  /** Endings that do not occur any more in the rest of the text. */
  private readonly missing = new Set<string>();

  constructor(text: string) {
    this.text = text;
  }

  /** The end of the tag, comment, instruction, declaration or CDATA section that starts with `<` at an offset, or -1. */
  endOf(at: number): number {
    const { text } = this;
    const code = text.charCodeAt(at + 1);
    if (code === QUESTION) return this.find("?>", at + 2);
    if (code !== BANG) return scanTag(text, at, text.length, this.deadQuotes);
    if (text.startsWith("--", at + 2)) return this.commentEnd(at + 4);
    if (text.startsWith("[CDATA[", at + 2)) return this.find("]]>", at + 9);
    return isLetter(text.charCodeAt(at + 2)) ? this.find(">", at + 3) : -1;
  }

  private commentEnd(at: number): number {
    if (this.text.startsWith(">", at)) return at + 1;
    if (this.text.startsWith("->", at)) return at + 2;
    return this.find("-->", at);
  }

  private find(ending: string, from: number): number {
    if (this.missing.has(ending)) return -1;
    const found = this.text.indexOf(ending, from);
    if (found !== -1) return found + ending.length;
    this.missing.add(ending);
    return -1;
  }
}
