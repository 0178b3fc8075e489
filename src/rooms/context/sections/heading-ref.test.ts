import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatHeadingRef, parseHeadingRef } from "./heading-ref.ts";

describe("heading references", () => {
  it.each([
    ["a.md#", "a.md", [""], "a.md#"],
    ["a.md#A//B", "a.md", ["A", "", "B"], "a.md#A//B"],
    ["a.md#A%2fB", "a.md", ["A/B"], "a.md#A%2FB"],
    ["a%23b.md#A", "a#b.md", ["A"], "a%23b.md#A"],
    ["a%2Fb.md#A", "a/b.md", ["A"], "a/b.md#A"],
    ["a.md#a+b c", "a.md", ["a+b c"], "a.md#a+b c"],
    ["a.md#%C3%9Cber", "a.md", ["\u00dcber"], "a.md#\u00dcber"],
    ["a.md#%F0%9F%98%80", "a.md", ["\u{1f600}"], "a.md#\u{1f600}"],
    ["a.md#\u00fc%41", "a.md", ["\u00fcA"], "a.md#\u00fcA"],
    ["a.md#%0A%7f%00", "a.md", ["\n\u007f\0"], "a.md#%0A%7F%00"],
    ["a.md#\n", "a.md", ["\n"], "a.md#%0A"],
    ["a.md#%25%32%35", "a.md", ["%25"], "a.md#%2525"],
  ])("%j", (ref, file_path, parts, canonical) => {
    expect(parseHeadingRef(ref)).toEqual({ file_path, parts, canonical });
    expect(parseHeadingRef(canonical)).toEqual({ file_path, parts, canonical });
  });

  it.each([
    "",
    "a.md",
    "#A",
    "a.md#A#B",
    "a.md#%",
    "a.md#%4",
    "a.md#%4g",
    "a.md#%zz",
    "a.md#%FF",
    "a.md#%C3",
    "a.md#%ED%A0%80",
    "a.md#%C3/%9C",
    "a%80.md#A",
    "a.md#\ud800",
    `${"a".repeat(4095)}#A`,
    // Each control character is three characters in what is stored.
    `a.md#${"\u0001".repeat(1364)}`,
  ])("refuses %j", (ref) => {
    expect(() => parseHeadingRef(ref)).toThrowError(expect.objectContaining({ code: "TARGET_SYNTAX" }));
  });

  it("may be 4,096 characters long, counted as code points", () => {
    expect(parseHeadingRef(`a.md#${"\u{1f600}".repeat(4091)}`).parts[0]).toHaveLength(4091 * 2);
    expect(parseHeadingRef(`a.md#${"\u0001".repeat(1363)}`).canonical).toHaveLength(4094);
  });

  it("come back from their canonical form as they went in", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 12 });
    fc.assert(
      fc.property(
        text.filter((path) => path !== ""),
        fc.array(text, { minLength: 1, maxLength: 4 }),
        (path, parts) => {
          const canonical = formatHeadingRef(path, parts);
          expect(parseHeadingRef(canonical)).toEqual({ file_path: path, parts, canonical });
        },
      ),
      { seed: 1 },
    );
  });
});
