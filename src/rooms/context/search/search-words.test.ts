import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GAP, hasTerm, listWords, toTsvectors } from "./search-words.ts";

/** The words of a tsvector with the positions it gives them, read back from its text. */
function readTsvector(text: string): Map<number, string> {
  const words = new Map<number, string>();
  for (const lexeme of text === "" ? [] : text.split(" ")) {
    const [, word, places] = /^'([^']+)':([0-9,]+)$/.exec(lexeme)!;
    for (const place of places!.split(",")) words.set(Number(place), word!);
  }
  return words;
}

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

  it("are cut where PostgreSQL would refuse them, never inside a character", () => {
    expect(listWords("x".repeat(5000))).toEqual(["x".repeat(500)]);
    expect(listWords(`${"x".repeat(499)}\u{10400}y`)).toEqual([`${"x".repeat(499)}`]);
  });
});

describe("tsvectors", () => {
  it("count positions from 1 and leave a gap between texts", () => {
    expect(toTsvectors(["a", "b", "a", GAP, "b"])).toEqual(["'a':1,3 'b':2,5"]);
    expect(toTsvectors([])).toEqual([""]);
  });

  it("stay within what PostgreSQL keeps: 16,383 positions and 256 of one word", () => {
    const words = Array.from({ length: 40_000 }, (_, i) => (i % 7 === 0 ? "\u306e" : `w${i % 500}`));
    for (const text of toTsvectors(words)) {
      const counts = new Map<string, number>();
      for (const [place, word] of readTsvector(text)) {
        expect(place).toBeLessThan(16_384);
        counts.set(word, (counts.get(word) ?? 0) + 1);
      }
      expect(Math.max(...counts.values())).toBeLessThanOrEqual(256);
    }
  });

  it("have every phrase of up to 128 words whole in one of them", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 29_000 }), fc.integer({ min: 1, max: 128 }), (at, length) => {
        const words = Array.from({ length: 30_000 }, (_, i) => (i % 3 === 0 ? "\u306e" : `w${i}`));
        const phrase = words.slice(at, at + length);
        const isThere = toTsvectors(words).some((text) => {
          const places = readTsvector(text);
          return [...places].some(
            ([place, word]) => word === phrase[0] && phrase.every((one, k) => places.get(place + k) === one),
          );
        });
        expect(isThere).toBe(true);
      }),
      { seed: 11, numRuns: 20 },
    );
  });

  it("end also for a text of one word", () => {
    expect(toTsvectors(Array.from({ length: 2000 }, () => "a")).length).toBeLessThan(20);
  });
});

describe("a line", () => {
  it.each([
    ["one two three", "two", false, true],
    ["one two three", "two three", false, true],
    ["one two three", "one three", false, false],
    ["one two three", "thr", true, true],
    ["one two three", "two thr", true, true],
    ["one two three", "thr", false, false],
    ["\u6771\u4eac\u90fd", "\u4eac\u90fd", false, true],
    ["", "a", false, false],
  ])("%j has %j (prefix %s): %s", (line, text, prefix, expected) => {
    expect(hasTerm(listWords(line), { text, prefix })).toBe(expected);
  });
});
