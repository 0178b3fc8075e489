/** How many characters were looked at. */
export interface Work {
  characters: number;
}

// Shorter pieces are handed out as plain strings; reading all of one costs no more than this.
const PLAIN_LENGTH = 64;

/**
 * Stands in for a string and counts the characters that are looked at, so that a test can tell how work grows with
 * the input without measuring time. Give it out with `countText`.
 */
class CountedText {
  readonly length: number;
  private readonly text: string;
  private readonly work: Work;

  constructor(text: string, work: Work) {
    this.text = text;
    this.work = work;
    this.length = text.length;
  }

  charCodeAt(at: number): number {
    this.work.characters++;
    return this.text.charCodeAt(at);
  }

  codePointAt(at: number): number | undefined {
    this.work.characters++;
    return this.text.codePointAt(at);
  }

  startsWith(start: string, at = 0): boolean {
    this.work.characters += start.length;
    return this.text.startsWith(start, at);
  }

  indexOf(part: string, from = 0): number {
    const found = this.text.indexOf(part, from);
    this.work.characters += (found === -1 ? this.length : found + part.length) - from;
    return found;
  }

  lastIndexOf(part: string, from = this.length): number {
    const found = this.text.lastIndexOf(part, from);
    this.work.characters += from - Math.max(found, 0);
    return found;
  }

  includes(part: string): boolean {
    return this.indexOf(part) !== -1;
  }

  slice(from?: number, to?: number): string {
    this.work.characters++;
    return countText(this.text.slice(from, to), this.work);
  }

  trim(): string {
    const trimmed = this.text.trim();
    this.work.characters += this.length - trimmed.length + 1;
    return countText(trimmed, this.work);
  }

  search(pattern: RegExp): number {
    return this.toString().search(pattern);
  }

  replace(pattern: RegExp, replacement: string): string {
    return countText(this.toString().replace(pattern, replacement), this.work);
  }

  replaceAll(part: string, replacement: string): string {
    return countText(this.toString().replaceAll(part, replacement), this.work);
  }

  toLowerCase(): string {
    return this.toString().toLowerCase();
  }

  /** What regular expressions and joining call: all of it is looked at. */
  toString(): string {
    this.work.characters += this.length;
    return this.text;
  }
}

/** A text that counts how it is read; to the code under test it is a string. */
export function countText(text: string, work: Work): string {
  return text.length <= PLAIN_LENGTH ? text : (new CountedText(text, work) as unknown as string);
}
