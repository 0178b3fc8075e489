import { describe, it } from "vitest";
import { playRandomCase } from "../support/random-edits.ts";

describe("random edit scripts over random trees", () => {
  // 1008 moves quoted names below a folder with a space, which git writes with a TAB behind the quotes.
  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 1008])(
    "the patch of case %i gives exactly the tree the agent left",
    (seed) => playRandomCase(seed),
    60_000,
  );
});
