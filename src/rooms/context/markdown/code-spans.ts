import { BACKTICK } from "./characters.ts";

const NOT_A_SPACE = /[^ ]/;

/** Finds where code spans end. When the next run does not end one, all runs of the text are found, in one pass. */
export class CodeSpans {
  private readonly text: string;
  /** Starts of the runs of each length, descending, so that the next one is the last. */
  private runs: Map<number, number[]> | null = null;

  constructor(text: string) {
    this.text = text;
  }

  /** Start of the next run of exactly `length` backticks at or after an offset, or -1. Offsets must not fall. */
  nextRun(length: number, from: number): number {
    if (this.runs === null) {
      const start = this.text.indexOf("`", from);
      if (start === -1 || skipBackticks(this.text, start) - start === length) return start;
      this.runs = this.findRuns();
    }
    const starts = this.runs.get(length);
    if (starts === undefined) return -1;
    while (starts.length > 0 && starts[starts.length - 1]! < from) starts.pop();
    return starts[starts.length - 1] ?? -1;
  }

  private findRuns(): Map<number, number[]> {
    const { text } = this;
    const runs = new Map<number, number[]>();
    let end = text.lastIndexOf("`") + 1;
    while (end > 0) {
      let start = end - 1;
      while (start > 0 && text.charCodeAt(start - 1) === BACKTICK) start--;
      const starts = runs.get(end - start);
      if (starts === undefined) runs.set(end - start, [start]);
      else starts.push(start);
      end = start === 0 ? 0 : text.lastIndexOf("`", start - 1) + 1;
    }
    return runs;
  }
}

/** The offset after the run of backticks at an offset. */
export function skipBackticks(text: string, at: number): number {
  let end = at;
  while (text.charCodeAt(end) === BACKTICK) end++;
  return end;
}

/** What a code span shows: line breaks are spaces, and one space goes at each end where both have one. */
export function codeText(content: string): string {
  const text = content.replaceAll("\n", " ");
  const padded = text.startsWith(" ") && text.endsWith(" ") && NOT_A_SPACE.test(text);
  return padded ? text.slice(1, -1) : text;
}
