import { compareCodePoints } from "../canonical/index.ts";

/** The candidates closest to a mistyped word, best first; none when nothing is close. Cost: words x lengths. */
export function findNearest(word: string, candidates: Iterable<string>, most = 3): string[] {
  const limit = Math.max(2, Math.ceil(word.length / 3));
  const near: { readonly text: string; readonly distance: number }[] = [];
  for (const text of candidates) {
    if (Math.abs(text.length - word.length) > limit) continue;
    const distance = editDistance(word.toLowerCase(), text.toLowerCase());
    if (distance <= limit) near.push({ text, distance });
  }
  near.sort((a, b) => a.distance - b.distance || compareCodePoints(a.text, b.text));
  return near.slice(0, most).map(({ text }) => text);
}

/** Insertions, deletions, substitutions and swaps of neighbours that turn one word into the other. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let best = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) best = Math.min(best, beforeLast[j - 2]! + 1);
      row.push(best);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}
