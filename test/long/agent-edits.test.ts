import { describe, it } from "vitest";
import { playRandomCase } from "../support/random-edits.ts";

const CASES = Array.from({ length: 200 }, (_, i) => 1000 + i);

describe("random edit scripts over random trees, many", () => {
  it.each(CASES)("the patch of case %i gives exactly the tree the agent left", (seed) => playRandomCase(seed), 120_000);
});
