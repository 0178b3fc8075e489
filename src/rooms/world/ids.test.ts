import { createHmac } from "node:crypto";
import fc from "fast-check";
import { expect, it } from "vitest";
import { nodeCrypto } from "../../adapters/crypto/node-crypto.ts";
import { toEntryIds } from "./ids.ts";

const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";

/** The id of an entry as the document defines it, worked out bit by bit. */
function idOf(key: Uint8Array, worldId: string, wseq: number): string {
  const mac = createHmac("sha256", key).update(`entry\n${worldId}\n${wseq}`).digest().subarray(0, 10);
  const bits = [...mac].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  return `e_${bits.replace(/.{5}/g, (five) => ALPHABET[Number.parseInt(five, 2)]!)}`;
}

it("ids of entries are the same whatever was asked for before", () => {
  const key = Uint8Array.from({ length: 32 }, (_, i) => i * 5);
  const question = fc.record({
    world_id: fc.constantFrom("w_harbour", "w_pier"),
    from: fc.integer({ min: 1, max: 120 }),
    count: fc.integer({ min: 1, max: 60 }),
  });
  fc.assert(
    fc.property(fc.array(question, { minLength: 1, maxLength: 6 }), (questions) => {
      for (const { world_id, from, count } of questions) {
        const expected = Array.from({ length: count }, (_, i) => idOf(key, world_id, from + i));
        expect(toEntryIds(nodeCrypto, { world_id, key }, from, count)).toEqual(expected);
      }
    }),
    { numRuns: 40 },
  );
});
