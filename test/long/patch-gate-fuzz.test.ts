import { describe, expect, it } from "vitest";
import { fuzzPatches } from "../support/patch-fuzz.ts";

describe("the patch gate against git, at length", () => {
  it("declares exactly what git changes in 20,000 cases", { timeout: 1_800_000 }, async () => {
    const { accepted } = await fuzzPatches(20_000, 7);
    expect(accepted).toBeGreaterThan(1_000);
  });
});
