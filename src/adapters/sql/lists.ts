/** Values in one `in (...)` list; longer lists are asked for in parts. */
const MAX_LIST = 512;

/** The places of values in a list of a statement. */
export function marks(values: readonly unknown[]): string {
  return values.map(() => "?").join(", ");
}

/** Parts whose length is a power of two: the last value is repeated, so that few statements serve lists of any length. */
export function* inParts<T>(values: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < values.length; at += MAX_LIST) {
    const part = values.slice(at, at + MAX_LIST);
    let length = 1;
    while (length < part.length) length *= 2;
    while (part.length < length) part.push(part.at(-1)!);
    yield part;
  }
}

/** What there is of one. */
export function toList<T>(one: T | null): readonly T[] {
  return one === null ? [] : [one];
}
