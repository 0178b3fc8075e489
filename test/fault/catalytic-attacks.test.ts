import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import { listAreas } from "../../src/app/conformance/areas.ts";
import { runVectors } from "../../src/app/conformance/runner.ts";
import { parseVectors } from "../../src/app/conformance/vector.ts";
import type { JsonObject } from "../../src/core/canonical/index.ts";

/**
 * Real commands that try to leave their domains, under every guard that works on this machine: the namespace guards
 * must keep everything outside as it was, weaker guards must notice and fail the run.
 */
const vectors = parseVectors(readFileSync(new URL("../vectors/catalytic.json", import.meta.url)), "catalytic.json");
const areas = listAreas();

describe.each(vectors.filter(({ area }) => area === "catalytic.attack"))("$id: $name", (vector) => {
  it("changes nothing outside, or is noticed", async () => {
    const report = await runVectors([vector], areas, { crypto: nodeCrypto, vectors });
    expect(report.mismatches).toEqual([]);
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
    const report = await runVectors([vector], areas, { crypto: nodeCrypto, vectors: [...vectors, vector] });
    expect(report.mismatches).toEqual([]);
  });
});
