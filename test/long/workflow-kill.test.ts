import { describe, expect, it } from "vitest";
import { killUntilPassed } from "../support/kill-run.ts";

describe("kill -9 at many points of a run", () => {
  it.each([1, 2, 3, 4, 5, 6])("leaves a run that goes on (seed %i)", { timeout: 600_000 }, async (seed) => {
    const points = [
      "ARTIFACT_ACCEPTED",
      "PATCH_ACCEPTED",
      "VERIFY_STARTED",
      "GATE_PASSED",
      "VERIFY_PASSED",
      "APPLY_STARTED",
    ];
    const report = await killUntilPassed(points, 6, seed);
    expect(report).toMatchObject({ status: "pass", changed: ["src/greet.js"], halfWritten: [], validAfter: true });
  });
});
