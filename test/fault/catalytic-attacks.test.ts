import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { conformancePorts } from "../../src/app/compose/conformance.ts";
import { listAreas } from "../../src/app/conformance/areas.ts";
import { runVectors } from "../../src/app/conformance/runner.ts";
import { parseVectors } from "../../src/app/conformance/vector.ts";
import type { JsonObject } from "../../src/core/canonical/index.ts";

/**
 * Real commands that try to leave their domains, under every guard that works on this machine: the namespace guards
 * must keep everything outside as it was, weaker guards must notice and fail the run.
 */
const file = parseVectors(readFileSync(new URL("../vectors/catalytic.json", import.meta.url)), "catalytic.json");
const areas = listAreas();
// The file has one fixture; cat-190 names another, which exists nowhere, and would be skipped for ever.
const vectors = file.map((one) =>
  one.id === "cat-190" ? { ...one, input: { ...one.input, fixture: "demo-repo" } } : one,
);

describe.each(vectors.filter(({ area }) => area === "catalytic.attack"))("$id: $name", (vector) => {
  it("changes nothing outside, or is noticed", async () => {
    const report = await runVectors([vector], areas, { ...conformancePorts, vectors });
    expect(report.mismatches).toEqual([]);
    // Only a machine where none of its guards works may skip one.
    const guards = vector.input["guards"] as readonly string[];
    for (const { reason } of report.skips) expect(reason.split(", ")).toHaveLength(guards.length);
    expect(report.passed + report.skipped).toBe(1);
  });
});

describe("an output in a folder that is not there yet", () => {
  it("is published with its folder, and nothing else was touched", async () => {
    const model = vectors.find(({ id }) => id === "cat-200")!;
    const output = "NAVIGATION/CORTEX/_generated/new/sub/o.json";
    const jobspec = {
      ...(model.input["jobspec"] as JsonObject),
      command: ["sh", "-c", `mkdir -p ${dirname(output)} && echo 1 > ${output}`],
      outputs: { durable_paths: [output] },
    };
    const all = { ...((model.expected as JsonObject)["all"] as JsonObject), published: [output] };
    const vector = { ...model, input: { ...model.input, jobspec }, expected: { all } };
    const report = await runVectors([vector], areas, { ...conformancePorts, vectors: [...vectors, vector] });
    expect(report.mismatches).toEqual([]);
  });
});
