import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeUtf8, encodeCanonical, formatCanonical, isCanonicalForm, type JsonObject, parseJson } from "./index.ts";

describe("canonical bytes of a large object", () => {
  it("are those of the text, whatever the object holds and however long it was thought to be", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue()), fc.nat(300), (plain, likely) => {
        const value = parseJson(JSON.stringify(plain)) as JsonObject;
        const text = formatCanonical(value);
        const bytes = encodeCanonical(value, likely);
        expect(decodeUtf8(bytes)).toBe(text);
        expect(isCanonicalForm(bytes, value)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it("are no other bytes: one more, one less, or one changed", () => {
    const value = { a: [1, { b: "x" }], c: { d: null } };
    const bytes = encodeCanonical(value);
    expect(isCanonicalForm(bytes.subarray(0, -1), value)).toBe(false);
    expect(isCanonicalForm(Uint8Array.from([...bytes, 10]), value)).toBe(false);
    for (let i = 0; i < bytes.length; i++) {
      expect(isCanonicalForm(bytes.with(i, bytes[i]! ^ 1), value), `byte ${i}`).toBe(false);
    }
  });
});

describe("an object of the parser", () => {
  it("inherits nothing: every name is a key or absent", () => {
    const value = parseJson('{"__proto__":{"x":1},"constructor":2}') as JsonObject;
    expect(Object.keys(value)).toEqual(["__proto__", "constructor"]);
    expect([value["toString"], value["hasOwnProperty"], value["x"]]).toEqual([undefined, undefined, undefined]);
    expect(formatCanonical(value)).toBe('{"__proto__":{"x":1},"constructor":2}');
  });
});
