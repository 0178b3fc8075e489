import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import { listAreas } from "../../src/app/conformance/areas.ts";
import { runVectors } from "../../src/app/conformance/runner.ts";
import { parseVectors } from "../../src/app/conformance/vector.ts";

/**
 * Real commands that try to leave their domains, under every guard that works on this machine: the namespace guards
 * must keep everything outside as it was, weaker guards must notice and fail the run.
 */
const vectors = parseVectors(readFileSync(new URL("../vectors/catalytic.json", import.meta.url)), "catalytic.json");
const areas = listAreas();

describe.each(vectors.filter(({ area }) => area === "catalytic.attack"))("$id: $name", (vector) => {
  it("changes nothing outside, or is noticed", { timeout: 60_000 }, async () => {
    const report = await runVectors([vector], areas, { crypto: nodeCrypto, vectors });
    expect(report.mismatches).toEqual([]);
    expect(report.passed + report.skipped).toBe(1);
  });
});
