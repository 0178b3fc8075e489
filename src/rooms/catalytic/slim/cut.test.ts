import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import { cutByContent } from "./cut.ts";

/** Lines that never come again. */
const makeText = (from: number, lines: number) =>
  Buffer.from(Array.from({ length: lines }, (_, i) => `${nodeCrypto.sha256(String(from + i))}\n`).join(""));
const hashes = (bytes: Uint8Array) => [...cutByContent(bytes)].map((piece) => nodeCrypto.sha256(piece));

describe("cutting by content", () => {
  it("gives back every byte in order, in pieces of 16 to 256 KiB but for the last", () => {
    const bytes = makeText(0, 40_000);
    const pieces = [...cutByContent(bytes)];
    expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
    for (const { length } of pieces.slice(0, -1))
      expect([length >= 16 * 1024, length <= 256 * 1024]).toEqual([true, true]);
    expect([pieces.length > 15, pieces.length < 120]).toEqual([true, true]);
    expect([...cutByContent(new Uint8Array())]).toEqual([]);
    // The same byte for ever never says where to cut.
    expect([...cutByContent(new Uint8Array(600 * 1024))].map(({ length }) => length / 1024)).toEqual([256, 256, 88]);
  });

  it("finds the same pieces where a text is the same, whatever stands before it", () => {
    const [bytes, other] = [
      makeText(0, 40_000),
      Buffer.concat([Buffer.from("another beginning\n"), makeText(0, 40_000)]),
    ];
    const known = new Set(hashes(bytes));
    const fresh = hashes(other).filter((hash) => !known.has(hash));
    expect(fresh.length).toBeLessThanOrEqual(2);
    const edited = Buffer.from(bytes);
    edited[edited.length >> 1] = 0x21;
    expect(hashes(edited).filter((hash) => !known.has(hash)).length).toBeLessThanOrEqual(3);
  });

  it("always cuts at the same places: pieces that were kept are found by later versions", () => {
    const [first] = hashes(makeText(7, 20_000));
    expect(first).toBe("d2b9bfcf00c29bdfc0b440786ffc01ba7bcbc658dd450f62cdbdab225c6e29dd");
  });
});
