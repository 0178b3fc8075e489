import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { conformancePorts } from "../../app/compose/conformance.ts";
import { CATALYTIC_ROOM_AREAS } from "../../app/conformance/catalytic-areas.ts";
import { runVectors } from "../../app/conformance/runner.ts";
import { parseVectors } from "../../app/conformance/vector.ts";

const file = new URL("../../../test/vectors/catalytic.json", import.meta.url);
// Attacks need guards and processes; they are made elsewhere.
const { "catalytic.attack": _, ...areas } = CATALYTIC_ROOM_AREAS;
const vectors = parseVectors(readFileSync(file), "catalytic.json").filter(({ area }) => Object.hasOwn(areas, area));

describe("the vectors of CMP-01", () => {
  it("are all answered as they expect, attacks apart", async () => {
    const report = await runVectors(vectors, new Map(Object.entries(areas)), conformancePorts);
    expect(report.mismatches).toEqual([]);
    expect(report.passed).toBe(vectors.length);
    expect(vectors.length).toBeGreaterThan(175);
  });
});
