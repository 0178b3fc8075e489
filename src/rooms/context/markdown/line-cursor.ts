import { ASTERISK, isBlank, MINUS, SPACE, TAB } from "./characters.ts";

const UNKNOWN = -1;

/**
 * A place inside one line. Columns count a tab up to the next multiple of four, from the start of the line, so a tab
 * can be used up in parts: `column` may be inside it. Every character is looked at once, however deep the nesting.
 */
export class LineCursor {
  readonly text: string;
  /** Offset of the end of the line. */
  end = 0;
  /** Column up to which the line is used up. */
  column = 0;
  /** Offset and column of the next character that is not blank, or of the end of the line. */
  next = 0;
  nextColumn = 0;
  private dashesFrom = UNKNOWN;
  private starsFrom = UNKNOWN;
  private barsFrom = UNKNOWN;

  constructor(text: string) {
    this.text = text;
  }

  startLine(at: number, end: number): void {
    this.end = end;
    this.column = 0;
    this.dashesFrom = UNKNOWN;
    this.starsFrom = UNKNOWN;
    this.barsFrom = UNKNOWN;
    this.find(at, 0);
  }

  /** Columns of blanks before the next character. */
  get indent(): number {
    return this.nextColumn - this.column;
  }

  get isBlank(): boolean {
    return this.next === this.end;
  }

  /** Uses up a marker of so many characters that stands at the next character. */
  skipMarker(length: number): void {
    this.column = this.nextColumn + length;
    this.find(this.next + length, this.column);
  }

  /** Uses up one column of blanks, if there is one. */
  skipBlank(): void {
    if (this.nextColumn > this.column) this.column++;
  }

  private find(at: number, column: number): void {
    const { text, end } = this;
    let offset = at;
    let columns = column;
    while (offset < end) {
      const code = text.charCodeAt(offset);
      if (code === SPACE) columns++;
      else if (code === TAB) columns += 4 - (columns % 4);
      else break;
      offset++;
    }
    this.next = offset;
    this.nextColumn = columns;
  }

  /** Whether the rest of the line is a thematic break: at least three equal markers and blanks, nothing else. */
  isThematicBreak(): boolean {
    const { text, end, next } = this;
    const marker = text.charCodeAt(next);
    if (next < this.restFrom(marker)) return false;
    let markers = 0;
    for (let i = next; i < end && markers < 3; i++) if (text.charCodeAt(i) === marker) markers++;
    return markers === 3;
  }

  /** Where the last stretch of the line begins that holds only this marker and blanks. Found once per line. */
  private restFrom(marker: number): number {
    if (marker === MINUS) {
      if (this.dashesFrom === UNKNOWN) this.dashesFrom = this.findRest(marker);
      return this.dashesFrom;
    }
    if (marker === ASTERISK) {
      if (this.starsFrom === UNKNOWN) this.starsFrom = this.findRest(marker);
      return this.starsFrom;
    }
    if (this.barsFrom === UNKNOWN) this.barsFrom = this.findRest(marker);
    return this.barsFrom;
  }

  private findRest(marker: number): number {
    const { text, next } = this;
    let from = this.end;
    while (from > next) {
      const code = text.charCodeAt(from - 1);
      if (code !== marker && !isBlank(code)) break;
      from--;
    }
    return from;
  }
}
