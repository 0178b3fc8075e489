import { readdirSync, readFileSync } from "node:fs";
import { conformancePorts } from "../../src/app/compose/conformance.ts";
import { describe, expect, it } from "vitest";
import { listAreas } from "../../src/app/conformance/areas.ts";
import { runVectors } from "../../src/app/conformance/runner.ts";
import { parseVectors } from "../../src/app/conformance/vector.ts";

/** Every vector of the contracts, through the same runner that `verbatim conformance` uses. */

const areas = listAreas();
const files = readdirSync(new URL(".", import.meta.url)).filter((name) => name.endsWith(".json"));
const vectors = files.flatMap((name) => parseVectors(readFileSync(new URL(name, import.meta.url)), name));
/** Real commands under every guard: test/fault/catalytic-attacks.test.ts runs each of them by its name. */
const ELSEWHERE = ["catalytic.attack"];
const names = [...new Set(vectors.map(({ area }) => area))].filter((area) => !ELSEWHERE.includes(area));

describe("vectors", () => {
  it.each(names.filter((name) => areas.has(name)))("%s holds", async (name) => {
    const chosen = vectors.filter(({ area }) => area === name);
    const report = await runVectors(chosen, areas, conformancePorts);
    expect(report.skips).toEqual([]);
    expect(report.mismatches).toEqual([]);
    // Nothing but commands under guards may be skipped, and those run elsewhere: a skipped vector shows nothing.
    expect([report.passed, report.skipped]).toEqual([chosen.length, 0]);
  });

  it("belong to areas of this build", () => {
    expect(names.filter((one) => !areas.has(one))).toEqual([]);
  });
});
