import type { IdTable } from "./index-image.ts";

/** Collects the ids of sections in index order and becomes the table that finds them. */
export class IdTableMaker {
  readonly #starts: number[] = [0];
  #prefixes = new Float64Array(1024);
  #count = 0;

  addSection(sectionId: string): void {
    if (this.#count === this.#prefixes.length) {
      // By a quarter, not by double: of millions of sections half a table would be waste.
      const larger = new Float64Array(this.#prefixes.length * 1.25);
      larger.set(this.#prefixes);
      this.#prefixes = larger;
    }
    this.#prefixes[this.#count++] = idPrefix(sectionId);
  }

  endFile(): void {
    this.#starts.push(this.#count);
  }

  /** The table; the maker is spent afterwards. Cost: n log n over plain numbers. */
  finish(): IdTable {
    const ids = this.#prefixes.subarray(0, this.#count);
    const span = tableSpan(this.#count);
    const scale = prefixScale(span);
    for (let i = 0; i < ids.length; i++) ids[i] = Math.floor(ids[i]! / scale) * span + i;
    return { starts: Float64Array.from(this.#starts), ids: ids.sort() };
  }
}

/** Numbers of the sections whose id may be this one, or may begin with these digits. */
export function findCandidates({ ids }: IdTable, beginning: string): number[] {
  const span = tableSpan(ids.length);
  const scale = prefixScale(span);
  const wanted = Math.floor(idPrefix(beginning.padEnd(12, "0")) / scale) * span;
  const end = Math.floor(idPrefix(beginning.padEnd(12, "f")) / scale) * span + span;
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ids[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  const found: number[] = [];
  for (; low < ids.length && ids[low]! < end; low++) found.push(ids[low]! % span);
  return found;
}

/** Number of the file, and of the section in it, of section number `n`. */
export function placeOf({ starts }: IdTable, n: number): { readonly file: number; readonly ordinal: number } {
  let low = 0;
  let high = starts.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle]! <= n) low = middle;
    else high = middle - 1;
  }
  return { file: low, ordinal: n - starts[low]! };
}

/** First 48 bits of a hash as a number. */
function idPrefix(sectionId: string): number {
  let prefix = 0;
  for (let i = 0; i < 12; i++) {
    const code = sectionId.charCodeAt(i);
    prefix = prefix * 16 + (code < 0x3a ? code - 0x30 : code - 0x57);
  }
  return prefix;
}

function tableSpan(sections: number): number {
  return 2 ** Math.max(5, Math.ceil(Math.log2(sections + 1)));
}

// An entry must stay a safe integer: the larger the table, the fewer bits of the id remain (at least 5 + 48 - 53).
function prefixScale(span: number): number {
  return span / 32;
}
