import { ASTERISK, isPunctuation, isSpace, LINE_FEED } from "./characters.ts";

const NONE = -1;
const CAN_OPEN = 1;
const CAN_CLOSE = 2;

/**
 * The delimiter stack of CommonMark: runs of `*` and `_` that may open or close emphasis, numbered as they come.
 * What it computes is how many markers of each run stay text. Cost: linear in the runs and their markers.
 */
export class DelimiterStack {
  /** Number of the topmost run, or -1. */
  top = NONE;
  private readonly text: string;
  private readonly starts: number[] = [];
  private readonly lengths: number[] = [];
  /** Markers that were not used up for emphasis. */
  private readonly left: number[] = [];
  private readonly abilities: number[] = [];
  private readonly below: number[] = [];
  private readonly above: number[] = [];

  constructor(text: string) {
    this.text = text;
  }

  /** Takes in the run `at..end`; one that can neither open nor close anything is plain text. */
  push(at: number, end: number): void {
    const abilities = findAbilities(this.text, at, end);
    if (abilities === 0) return;
    const run = this.starts.push(at) - 1;
    this.lengths.push(end - at);
    this.left.push(end - at);
    this.abilities.push(abilities);
    this.below.push(this.top);
    this.above.push(NONE);
    if (this.top !== NONE) this.above[this.top] = run;
    this.top = run;
  }

  /** Calls back with every stretch of markers that was used up. */
  eachUsed(use: (from: number, to: number) => void): void {
    for (let run = 0; run < this.starts.length; run++) {
      const start = this.starts[run]!;
      const left = this.left[run]!;
      if (left < this.lengths[run]!) use(start + left, start + this.lengths[run]!);
    }
  }

  /** Pairs the runs above `bottom` and takes them off the stack. */
  pairAbove(bottom: number): void {
    if (this.top === bottom) return;
    const { left, abilities, above, below } = this;
    // Highest run known to have no opener at or below it, by kind of closer: no search is made twice in vain.
    const searched = new Array<number>(12).fill(bottom);
    let closer = this.lowestAbove(bottom);
    while (closer !== NONE) {
      if ((abilities[closer]! & CAN_CLOSE) === 0) {
        closer = above[closer]!;
        continue;
      }
      const kind = this.kindOf(closer);
      const opener = this.findOpener(closer, searched[kind]!);
      if (opener === NONE) {
        searched[kind] = below[closer]!;
        const next = above[closer]!;
        if ((abilities[closer]! & CAN_OPEN) === 0) this.remove(closer);
        closer = next;
        continue;
      }
      const used = left[closer]! >= 2 && left[opener]! >= 2 ? 2 : 1;
      left[opener]! -= used;
      left[closer]! -= used;
      above[opener] = closer;
      below[closer] = opener;
      if (left[opener] === 0) this.remove(opener);
      if (left[closer] === 0) {
        const next = above[closer]!;
        this.remove(closer);
        closer = next;
      }
    }
    this.top = bottom;
    if (bottom !== NONE) above[bottom] = NONE;
  }

  /** Closers of one kind find the same openers. */
  private kindOf(closer: number): number {
    const marker = this.text.charCodeAt(this.starts[closer]!) === ASTERISK ? 0 : 6;
    return marker + ((this.abilities[closer]! & CAN_OPEN) === 0 ? 0 : 3) + (this.lengths[closer]! % 3);
  }

  private findOpener(closer: number, floor: number): number {
    const { text, starts, lengths, abilities, below } = this;
    const marker = text.charCodeAt(starts[closer]!);
    const length = lengths[closer]!;
    for (let run = below[closer]!; run > floor; run = below[run]!) {
      if ((abilities[run]! & CAN_OPEN) === 0 || text.charCodeAt(starts[run]!) !== marker) continue;
      const eitherWay = (abilities[closer]! & CAN_OPEN) !== 0 || (abilities[run]! & CAN_CLOSE) !== 0;
      if (eitherWay && length % 3 !== 0 && (lengths[run]! + length) % 3 === 0) continue;
      return run;
    }
    return NONE;
  }

  private lowestAbove(bottom: number): number {
    let run = this.top;
    while (this.below[run] !== bottom) run = this.below[run]!;
    return run;
  }

  private remove(run: number): void {
    const { above, below } = this;
    const lower = below[run]!;
    const upper = above[run]!;
    if (lower !== NONE) above[lower] = upper;
    if (upper === NONE) this.top = lower;
    else below[upper] = lower;
  }
}

function findAbilities(text: string, at: number, end: number): number {
  const anywhere = text.charCodeAt(at) === ASTERISK;
  const before = at === 0 ? LINE_FEED : text.charCodeAt(at - 1);
  const after = end === text.length ? LINE_FEED : text.charCodeAt(end);
  const spaceBefore = isSpace(before);
  const spaceAfter = isSpace(after);
  const markBefore = isPunctuation(before);
  const markAfter = isPunctuation(after);
  const leftFlanking = !spaceAfter && (!markAfter || spaceBefore || markBefore);
  const rightFlanking = !spaceBefore && (!markBefore || spaceAfter || markAfter);
  const canOpen = leftFlanking && (anywhere || !rightFlanking || markBefore);
  const canClose = rightFlanking && (anywhere || !leftFlanking || markAfter);
  return (canOpen ? CAN_OPEN : 0) | (canClose ? CAN_CLOSE : 0);
}
