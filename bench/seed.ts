/** Numbers from a seed (mulberry32), so that a corpus is the same in every run. Each call gives one in [0, bound). */
export function seededIntegers(seed: number): (bound: number) => number {
  let state = seed >>> 0;
  return (bound) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

const WORDS = ["amber", "birch", "candle", "delta", "ember", "fjord", "gravel", "harbour", "inlet", "juniper"];

/** A line of plain words. */
export function seededWords(next: (bound: number) => number, count: number): string {
  return Array.from({ length: count }, () => WORDS[next(WORDS.length)]).join(" ");
}
