/**
 * A part of a vector's input as what it stands for, without a look at it: the vectors are ours, and one of another shape
 * fails by what comes out. For the areas of conformance and nothing else; what comes from outside is parsed.
 */
export function given<T>(value: unknown): T {
  return value as T;
}
