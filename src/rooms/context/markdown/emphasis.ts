import { ASTERISK, isPunctuation, isSpace, LINE_FEED } from "./characters.ts";

/** A run of `*` or `_` that may open or close emphasis. */
export interface DelimiterRun {
  /** Ascending in the text. */
  readonly id: number;
  readonly code: number;
  readonly length: number;
  readonly canOpen: boolean;
  readonly canClose: boolean;
  /** Markers that were not used up for emphasis. */
  left: number;
  previous: DelimiterRun | null;
  next: DelimiterRun | null;
}

/** The delimiter stack of CommonMark. What it computes is how many markers of each run stay text. */
export class DelimiterStack {
  top: DelimiterRun | null = null;
  private runs = 0;

  /** Puts a run on the stack when it can open or close something; null when it is plain text. */
  push(text: string, at: number, end: number): DelimiterRun | null {
    const code = text.charCodeAt(at);
    const before = at === 0 ? LINE_FEED : text.charCodeAt(at - 1);
    const after = end === text.length ? LINE_FEED : text.charCodeAt(end);
    const spaceBefore = isSpace(before);
    const spaceAfter = isSpace(after);
    const markBefore = isPunctuation(before);
    const markAfter = isPunctuation(after);
    const leftFlanking = !spaceAfter && (!markAfter || spaceBefore || markBefore);
    const rightFlanking = !spaceBefore && (!markBefore || spaceAfter || markAfter);
    const canOpen = leftFlanking && (code === ASTERISK || !rightFlanking || markBefore);
    const canClose = rightFlanking && (code === ASTERISK || !leftFlanking || markAfter);
    if (!canOpen && !canClose) return null;
    const length = end - at;
    const { top } = this;
    const run: DelimiterRun = {
      id: this.runs++,
      code,
      length,
      canOpen,
      canClose,
      left: length,
      previous: top,
      next: null,
    };
    if (top !== null) top.next = run;
    this.top = run;
    return run;
  }

  /** Pairs the runs above `bottom` and takes them off the stack. Cost: linear in their number and their markers. */
  pairAbove(bottom: DelimiterRun | null): void {
    if (this.top === bottom) return;
    const floor = bottom === null ? -1 : bottom.id;
    // Highest run known to have no opener at or below it, by kind of closer: each failed search is made once.
    const searched = new Int32Array(12).fill(floor);
    let closer = this.lowestAbove(bottom);
    while (closer !== null) {
      if (!closer.canClose) {
        closer = closer.next;
        continue;
      }
      const kind = (closer.code === ASTERISK ? 0 : 6) + (closer.canOpen ? 3 : 0) + (closer.length % 3);
      const opener = findOpener(closer, searched[kind]!);
      if (opener === null) {
        searched[kind] = closer.previous === null ? -1 : closer.previous.id;
        const next: DelimiterRun | null = closer.next;
        if (!closer.canOpen) this.remove(closer);
        closer = next;
        continue;
      }
      const used = closer.left >= 2 && opener.left >= 2 ? 2 : 1;
      opener.left -= used;
      closer.left -= used;
      opener.next = closer;
      closer.previous = opener;
      if (opener.left === 0) this.remove(opener);
      if (closer.left === 0) {
        const next: DelimiterRun | null = closer.next;
        this.remove(closer);
        closer = next;
      }
    }
    this.top = bottom;
    if (bottom !== null) bottom.next = null;
  }

  private lowestAbove(bottom: DelimiterRun | null): DelimiterRun | null {
    let run = this.top;
    while (run !== null && run.previous !== bottom) run = run.previous;
    return run;
  }

  private remove(run: DelimiterRun): void {
    if (run.previous !== null) run.previous.next = run.next;
    if (run.next === null) this.top = run.previous;
    else run.next.previous = run.previous;
  }
}

function findOpener(closer: DelimiterRun, floor: number): DelimiterRun | null {
  for (let run = closer.previous; run !== null && run.id > floor; run = run.previous) {
    if (run.code !== closer.code || !run.canOpen) continue;
    const eitherWay = closer.canOpen || run.canClose;
    if (eitherWay && closer.length % 3 !== 0 && (run.length + closer.length) % 3 === 0) continue;
    return run;
  }
  return null;
}
