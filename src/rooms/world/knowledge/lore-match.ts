import { allTerms } from "../retrieval/terms.ts";

/** What is looked for: keys are words that follow each other, never patterns. */
export interface LoreKeys {
  readonly keys: readonly string[];
  /** Further keys, which narrow: any or all of them must be there, or none. */
  readonly also: readonly string[];
  readonly match: "any" | "all" | "not";
  readonly always: boolean;
}

/** A line that is due, and which of its keys matched. */
export interface LoreMatch {
  readonly index: number;
  readonly keys: readonly string[];
}

interface Node {
  readonly next: Map<string, Node>;
  /** Numbers of the keys that end here. */
  readonly ends: number[];
}

interface Key {
  readonly line: number;
  readonly key: string;
  readonly isAlso: boolean;
}

/** Keys of many lines, found in one pass over a text however many there are. */
export class LoreMatcher {
  readonly #lines: readonly LoreKeys[];
  readonly #keys: Key[] = [];
  readonly #root: Node = { next: new Map(), ends: [] };
  readonly #always: readonly number[];

  constructor(lines: readonly LoreKeys[]) {
    this.#lines = lines;
    this.#always = lines.flatMap(({ always }, i) => (always ? [i] : []));
    for (const [line, { keys, also }] of lines.entries()) {
      for (const key of keys) this.#add({ line, key, isAlso: false });
      for (const key of also) this.#add({ line, key, isAlso: true });
    }
  }

  #add(key: Key): void {
    let at = this.#root;
    for (const term of allTerms(key.key)) {
      let next = at.next.get(term);
      if (next === undefined) {
        next = { next: new Map(), ends: [] };
        at.next.set(term, next);
      }
      at = next;
    }
    // A key without a word would be everywhere.
    if (at === this.#root) return;
    at.ends.push(this.#keys.length);
    this.#keys.push(key);
  }

  /** The lines that are due for some texts, by their number. A key never runs from one text into the next. */
  match(texts: readonly string[]): LoreMatch[] {
    const found = new Set<number>();
    for (const text of texts) this.#find([...allTerms(text)], found);
    const own = new Map<number, string[]>();
    const also = new Map<number, Set<string>>();
    for (const number of [...found].sort((a, b) => a - b)) {
      const { line, key, isAlso } = this.#keys[number]!;
      if (isAlso) also.set(line, (also.get(line) ?? new Set()).add(key));
      else own.set(line, [...(own.get(line) ?? []), key]);
    }
    const due = new Map(this.#always.map((line): [number, readonly string[]] => [line, own.get(line) ?? []]));
    for (const [line, keys] of own) if (isMet(this.#lines[line]!, also.get(line))) due.set(line, keys);
    return [...due].sort(([a], [b]) => a - b).map(([index, keys]) => ({ index, keys }));
  }

  #find(terms: readonly string[], found: Set<number>): void {
    for (let start = 0; start < terms.length; start++) {
      let at = this.#root.next.get(terms[start]!);
      for (let i = start + 1; at !== undefined; i++) {
        for (const number of at.ends) found.add(number);
        at = i < terms.length ? at.next.get(terms[i]!) : undefined;
      }
    }
  }
}

function isMet({ also, match }: LoreKeys, found: ReadonlySet<string> = new Set()): boolean {
  if (also.length === 0) return true;
  if (match === "any") return found.size > 0;
  if (match === "all") return found.size === new Set(also).size;
  return found.size === 0;
}
