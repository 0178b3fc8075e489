import { createHmac } from "node:crypto";
import fc from "fast-check";
import { expect, it } from "vitest";
import { nodeCrypto } from "../../adapters/crypto/node-crypto.ts";
import { toBundleIds, toEntryIds } from "./ids.ts";

const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";

/** The id of an entry or a write bundle as the document defines it, worked out bit by bit. */
function idOf(what: "entry" | "bundle", key: Uint8Array, worldId: string, number: number): string {
  const mac = createHmac("sha256", key).update(`${what}\n${worldId}\n${number}`).digest().subarray(0, 10);
  const bits = [...mac].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  return `${what[0]}_${bits.replace(/.{5}/g, (five) => ALPHABET[Number.parseInt(five, 2)]!)}`;
}

it("ids of entries and write bundles are the same whatever was asked for before", () => {
  const key = Uint8Array.from({ length: 32 }, (_, i) => i * 5);
  const question = fc.record({
    world_id: fc.constantFrom("w_harbour", "w_pier"),
    from: fc.integer({ min: 1, max: 120 }),
    count: fc.integer({ min: 1, max: 60 }),
  });
  fc.assert(
    fc.property(fc.array(question, { minLength: 1, maxLength: 6 }), (questions) => {
      for (const { world_id, from, count } of questions) {
        const expected = (what: "entry" | "bundle") =>
          Array.from({ length: count }, (_, i) => idOf(what, key, world_id, from + i));
        expect(toEntryIds(nodeCrypto, { world_id, key }, from, count)).toEqual(expected("entry"));
        expect(toBundleIds(nodeCrypto, { world_id, key }, from, count)).toEqual(expected("bundle"));
      }
    }),
    { numRuns: 40 },
  );
});
