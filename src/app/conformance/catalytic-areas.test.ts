import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../adapters/crypto/node-crypto.ts";
import { listAreas } from "./areas.ts";
import { runVectors } from "./runner.ts";
import { parseVectors } from "./vector.ts";

const place = new URL("../../../test/vectors/catalytic.json", import.meta.url);
const vectors = parseVectors(readFileSync(place), "catalytic.json");
const areas = listAreas();

// Attacks run real commands under every guard; they have a suite of their own in test/fault.
describe.each(vectors.filter(({ area }) => area !== "catalytic.attack"))("$id $area: $name", (vector) => {
  it("holds", async () => {
    const report = await runVectors([vector], areas, { crypto: nodeCrypto, vectors });
    expect(report.mismatches).toEqual([]);
    expect(report.passed).toBe(1);
  });
});
