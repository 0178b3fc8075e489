import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "./hex.ts";

describe("hex", () => {
  it("is what Buffer writes, and reads back", () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(toHex(bytes)).toBe(Buffer.from(bytes).toString("hex"));
        expect(fromHex(toHex(bytes))).toEqual(bytes);
      }),
    );
  });

  it.each(["a", "abc", "AB", "0g", "0x", " 0", "é0", "0\u0130"])("refuses %j", (text) => {
    expect(fromHex(text)).toBeNull();
  });
});
