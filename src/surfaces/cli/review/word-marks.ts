/** A stretch of a line, and whether it is what makes the difference. */
export interface Stretch {
  readonly text: string;
  readonly marked: boolean;
}

/** So many words of a line are compared; a longer one is marked nowhere. */
const MOST_WORDS = 400;
/** Below this share of common characters two lines have nothing to do with each other. */
const LEAST_COMMON = 0.3;

/** What differs between an old line and the new one in its place, word by word; null: they have too little in common. */
export function markWords(before: string, after: string): readonly [Stretch[], Stretch[]] | null {
  const [a, b] = [splitWords(before), splitWords(after)];
  if (a.length > MOST_WORDS || b.length > MOST_WORDS || before === after) return null;
  const common = findCommon(a, b);
  const size = (words: readonly string[]) => words.reduce((sum, word) => sum + word.trim().length, 0);
  const shared = size(common.map(([i]) => a[i]!));
  if (shared < LEAST_COMMON * Math.max(size(a), size(b))) return null;
  const inBefore = new Set(common.map(([i]) => i));
  const inAfter = new Set(common.map(([, j]) => j));
  return [join(a, inBefore), join(b, inAfter)];
}

function splitWords(line: string): string[] {
  return line.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

/** The longest common words in their order, as pairs of places. */
function findCommon(a: readonly string[], b: readonly string[]): [number, number][] {
  const width = b.length + 1;
  const table = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      table[i * width + j] =
        a[i] === b[j]
          ? table[(i + 1) * width + j + 1]! + 1
          : Math.max(table[(i + 1) * width + j]!, table[i * width + j + 1]!);
    }
  }
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if (table[(i + 1) * width + j]! >= table[i * width + j + 1]!) i++;
    else j++;
  }
  return pairs;
}

function join(words: readonly string[], common: ReadonlySet<number>): Stretch[] {
  const stretches: { text: string; marked: boolean }[] = [];
  for (const [i, text] of words.entries()) {
    const marked = !common.has(i);
    const last = stretches.at(-1);
    if (last?.marked === marked) last.text += text;
    else stretches.push({ text, marked });
  }
  return stretches;
}
