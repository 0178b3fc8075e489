import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { eachPiece, listWords } from "./search-words.ts";

describe("the words of a text", () => {
  it.each([
    ["See /usr/local/Foo.md, a@b.invalid -1e5 (x_y)", "see usr local foo md a b invalid 1e5 x y"],
    ["\u65e5\u672c\u8a9eABC", "\u65e5 \u672c \u8a9e abc"],
    ["Cafe\u0301 CAF\u00c9 na\u00efve", "cafe cafe naive"],
    ["\ud55c\uad6d\uc5b4", "\ud55c\uad6d\uc5b4"],
    ["\u0e44\u0e17\u0e22", "\u0e44 \u0e17 \u0e22"],
    ["a\0b 'c' \\d", "a b c d"],
    ["...", ""],
  ])("of %j are %j", (text, words) => {
    expect(listWords(text).join(" ")).toBe(words);
  });

  it("are cut where a database would refuse them, never inside a character", () => {
    expect(listWords("x".repeat(5000))).toEqual(["x".repeat(500)]);
    expect(listWords(`${"x".repeat(499)}\u{10400}y`)).toEqual([`${"x".repeat(499)}`]);
  });
});

describe("the pieces of a text", () => {
  it("are the whole text and end between words", () => {
    const word = fc.string({ unit: fc.constantFrom(..."ab\u00e9\u65e5\u0e01\u{10400}"), minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(fc.array(word, { minLength: 50, maxLength: 60 }), (words) => {
        const text = Array.from({ length: 60 }, () => words.join(" ")).join("\n");
        const pieces = [...eachPiece(text)];
        expect(pieces.join("")).toBe(text);
        expect(pieces.flatMap(listWords)).toEqual(listWords(text));
      }),
      { seed: 5, numRuns: 20 },
    );
  });

  it("are never cut inside a character, however long a word is", () => {
    const pieces = [...eachPiece("\u{10400}".repeat(70_000)), ...eachPiece(`x${"\u{10400}".repeat(70_000)}`)];
    expect(pieces.length).toBeGreaterThan(6);
    for (const piece of pieces) expect(piece.isWellFormed()).toBe(true);
  });
});
