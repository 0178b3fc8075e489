import { describe, it } from "vitest";
import { playRandomCase } from "../support/random-edits.ts";

describe("random edit scripts over random trees", () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15])(
    "the patch of case %i gives exactly the tree the agent left",
    (seed) => playRandomCase(seed),
    60_000,
  );
});
