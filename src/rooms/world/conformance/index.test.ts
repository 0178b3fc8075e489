import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { conformancePorts } from "../../../app/compose/conformance.ts";
import { WORLD_ROOM_AREAS } from "../../../app/conformance/areas.ts";
import { runVectors } from "../../../app/conformance/runner.ts";
import { parseVectors } from "../../../app/conformance/vector.ts";

const file = new URL("../../../../test/vectors/world.json", import.meta.url);
const vectors = parseVectors(readFileSync(file), "world.json").filter(({ area }) => area.startsWith("world."));

describe("the vectors of the World Contracts", () => {
  it("are all answered as they expect", async () => {
    const report = await runVectors(vectors, new Map(Object.entries(WORLD_ROOM_AREAS)), conformancePorts);
    expect(report.mismatches).toEqual([]);
    expect(report.passed).toBe(vectors.length);
    expect(vectors.length).toBeGreaterThan(200);
  });
});
