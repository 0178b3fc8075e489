import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { conformancePorts } from "../../app/compose/conformance.ts";
import { runVectors } from "../../app/conformance/runner.ts";
import { parseVectors } from "../../app/conformance/vector.ts";
import { WORKFLOW_ROOM_AREAS } from "../../app/conformance/workflow-areas.ts";

const file = new URL("../../../test/vectors/workflow.json", import.meta.url);
const vectors = parseVectors(readFileSync(file), "workflow.json");

describe("the vectors of the Artifact Contracts", () => {
  it("are all answered as they expect", async () => {
    const report = await runVectors(vectors, new Map(Object.entries(WORKFLOW_ROOM_AREAS)), conformancePorts);
    expect(report.mismatches).toEqual([]);
    expect(report.passed).toBe(vectors.length);
    expect(vectors.length).toBeGreaterThan(190);
  });
});
