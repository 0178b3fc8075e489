import { BACKTICK, LINE_FEED, SPACE } from "./characters.ts";

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

/** Whether one space goes at each end of a code span: both have one, and not all of it is space. */
export function isPadded(text: string, open: number, close: number): boolean {
  if (!isSpaceOrBreak(text.charCodeAt(open)) || !isSpaceOrBreak(text.charCodeAt(close - 1))) return false;
  for (let i = open; i < close; i++) if (!isSpaceOrBreak(text.charCodeAt(i))) return true;
  return false;
}

function isSpaceOrBreak(code: number): boolean {
  return code === SPACE || code === LINE_FEED;
}
