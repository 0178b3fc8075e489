import { concatBytes } from "../../../core/canonical/index.ts";
import type { Hunk } from "../candidate/hunks.ts";

/** Lines that a change adds one after the other, by their place in the file as it leaves it. */
interface AddedRange {
  /** From 1, the last line included. */
  readonly start_line: number;
  readonly end_line: number;
  /** With their line feeds. */
  readonly bytes: Uint8Array;
}

/** What the hunks of one file add, in the order of the file. Linear in the hunks. */
export function listAddedRanges(hunks: readonly Pick<Hunk, "edits">[]): AddedRange[] {
  const ranges: AddedRange[] = [];
  // How much further down a line of the old text is by what stands before it.
  let shift = 0;
  for (const { at, remove, insert } of hunks.flatMap(({ edits }) => edits)) {
    if (insert.length > 0) {
      const start_line = at + shift + 1;
      ranges.push({ start_line, end_line: start_line + insert.length - 1, bytes: concatBytes(insert) });
    }
    shift += insert.length - remove.length;
  }
  return ranges;
}
