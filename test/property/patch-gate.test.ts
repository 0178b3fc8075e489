// Whatever git changes after the gate accepted a patch is exactly the declared set and inside the scope; git is the
// oracle. The long suite runs many more cases.
import { describe, expect, it } from "vitest";
import { fuzzPatches } from "../support/patch-fuzz.ts";

describe("the patch gate against git", () => {
  it("declares exactly what git changes, for random and for broken patches", async () => {
    const { accepted, rejected } = await fuzzPatches(300, 20_261_115);
    expect(accepted).toBeGreaterThan(20);
    expect(rejected).toBeGreaterThan(100);
  });
});
