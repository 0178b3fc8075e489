import { LINE_FEED, SPACE, TAB } from "./characters.ts";

/** Code points of a heading's label; what is beyond is not part of it. */
const LONGEST_LABEL = 1024;

const NEEDS_TIDYING = /[\t\n]| {2}|^ | $/;

/**
 * Collects what a heading shows: each run of spaces, tabs and line feeds is one space, none at the ends, at most
 * 1,024 code points. Once it is full nothing more needs to be added.
 */
export class Label {
  private text = "";
  private codePoints = 0;
  private gap = false;

  get isFull(): boolean {
    return this.codePoints >= LONGEST_LABEL;
  }

  /** Adds `text[from..to)`. */
  add(text: string, from: number, to: number): void {
    let at = from;
    while (at < to && !this.isFull) {
      if (isGap(text.charCodeAt(at))) {
        this.gap = true;
        at++;
        continue;
      }
      if (this.gap && this.codePoints > 0) {
        this.text += " ";
        this.codePoints++;
      }
      this.gap = false;
      const start = at;
      let room = LONGEST_LABEL - this.codePoints;
      for (; at < to && room > 0; room--) {
        const code = text.charCodeAt(at);
        if (isGap(code)) break;
        at += code >= 0xd800 && code <= 0xdbff ? 2 : 1;
      }
      this.codePoints = LONGEST_LABEL - room;
      this.text += text.slice(start, at);
    }
  }

  toString(): string {
    return this.text;
  }
}

/** The label that a text without markup makes. */
export function toLabel(text: string): string {
  if (text.length <= LONGEST_LABEL && !NEEDS_TIDYING.test(text)) return text;
  const label = new Label();
  label.add(text, 0, text.length);
  return label.toString();
}

function isGap(code: number): boolean {
  return code === SPACE || code === TAB || code === LINE_FEED;
}
