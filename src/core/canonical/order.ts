/**
 * Compares two strings by code point, which is the order of their UTF-8 bytes.
 * UTF-16 order differs only where a surrogate meets a unit above it.
 */
export function compareCodePoints(a: string, b: string): number {
  const length = a.length < b.length ? a.length : b.length;
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) {
      const xs = x >= 0xd800 && x <= 0xdfff;
      const ys = y >= 0xd800 && y <= 0xdfff;
      if (xs !== ys) return xs ? 1 : -1;
      return x - y;
    }
  }
  return a.length - b.length;
}

/** A sorted copy, by code point. */
export function sortedByCodePoint(values: Iterable<string>): string[] {
  return [...values].sort(compareCodePoints);
}

/** A sorted copy without repetitions, by code point. */
export function sortedUnique(values: Iterable<string>): string[] {
  return sortedByCodePoint(new Set(values));
}
