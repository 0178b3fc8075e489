/** Leaves `from` to `to`, the end excluded. */
export interface LeafRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Ranges whose roots are the inclusion path of a leaf, the leaf's sibling first (RFC 6962 section 2.1.1).
 * Together with the leaf they are all leaves of the tree, each once.
 */
export function inclusionRanges(index: number, size: number): LeafRange[] {
  const path: LeafRange[] = [];
  let from = 0;
  let to = size;
  while (to - from > 1) {
    const middle = from + splitPoint(to - from);
    if (index < middle) {
      path.push({ from: middle, to });
      to = middle;
    } else {
      path.push({ from, to: middle });
      from = middle;
    }
  }
  return path.reverse();
}

export interface ConsistencyRanges {
  /** The largest range that ends at the first size and is a subtree of both trees. */
  readonly shared: LeafRange;
  /** Whether the shared subtree is the whole first tree: its root is then known and not part of the path. */
  readonly whole: boolean;
  /** The rest of the path, bottom up. */
  readonly rest: LeafRange[];
}

/** Ranges whose roots are the consistency path of two sizes, 0 < first < second (RFC 6962 section 2.1.2). */
export function consistencyRanges(first: number, second: number): ConsistencyRanges {
  const rest: LeafRange[] = [];
  let from = 0;
  let to = second;
  while (to !== first) {
    const middle = from + splitPoint(to - from);
    if (first <= middle) {
      rest.push({ from: middle, to });
      to = middle;
    } else {
      rest.push({ from, to: middle });
      from = middle;
    }
  }
  return { shared: { from, to }, whole: from === 0, rest: rest.reverse() };
}

/** The largest power of two below a number that is at least 2. */
function splitPoint(count: number): number {
  let power = 1;
  while (power * 2 < count) power *= 2;
  return power;
}
