import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeUtf8 } from "../canonical/index.ts";
import { decodeBase64, encodeBase64 } from "./index.ts";

describe("base64", () => {
  // RFC 4648 section 10.
  it.each([
    ["", ""],
    ["f", "Zg=="],
    ["fo", "Zm8="],
    ["foo", "Zm9v"],
    ["foob", "Zm9vYg=="],
    ["fooba", "Zm9vYmE="],
    ["foobar", "Zm9vYmFy"],
  ])("has the published text for %j", (plain, text) => {
    expect(encodeBase64(encodeUtf8(plain))).toBe(text);
    expect(decodeBase64(text)).toEqual(encodeUtf8(plain));
  });

  it("writes what Buffer writes and reads it back", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        const text = Buffer.from(bytes).toString("base64");
        expect(encodeBase64(bytes)).toBe(text);
        expect(decodeBase64(text)).toEqual(bytes);
      }),
    );
  });

  it.each([
    ["no padding", "Zg"],
    ["half the padding", "Zg="],
    ["too much padding", "Zg==="],
    ["padding alone", "===="],
    ["padding in the middle", "Zg==Zg=="],
    ["a letter after padding", "Zg=a"],
    ["three of padding", "Z==="],
    ["padding bits that are not zero", "Zh=="],
    ["padding bits that are not zero, two bytes", "Zm9="],
    ["the URL alphabet", "-_-_"],
    ["a space", "Zm9 "],
    ["a line feed", "Zm9v\n"],
    ["a line feed inside", "Zm9v\nZm9v"],
    ["a NUL", "Zm9\0"],
    ["a letter beyond ASCII", "Zm9\u00e9"],
    ["a letter whose low byte is in the alphabet", "Zm9\u0141"],
    ["one letter", "Z"],
  ])("refuses %s", (_what, text) => {
    expect(decodeBase64(text)).toBeNull();
  });

  it("has one text for each sequence of bytes", () => {
    const texts = fc.string({ unit: fc.constantFrom(..."AZaz09+/=-_ \n"), maxLength: 12 });
    fc.assert(
      fc.property(fc.oneof(fc.string(), texts), (text) => {
        const bytes = decodeBase64(text);
        if (bytes !== null) expect(encodeBase64(bytes)).toBe(text);
      }),
      { numRuns: 2000 },
    );
  });
});
