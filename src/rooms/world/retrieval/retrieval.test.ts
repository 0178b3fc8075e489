import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { intlGraphemes } from "../../../adapters/intl/graphemes.ts";
import { utf8Length } from "../../../core/canonical/index.ts";
import { toExcerpt } from "./excerpt.ts";
import { queryTerms, termsOf } from "./terms.ts";

describe("terms", () => {
  it.each([
    ["ΟΔΟΣ οδος οδός", ["οδοσ"]],
    ["İstanbul", ["istanbul"]],
    ["Straße", ["straße"]],
    ["ﬁne ㍿ ﷺ", ["fine", "صلى", "الله", "عليه", "وسلم"]],
    ["สวัสดี", ["ส", "ว", "ด"]],
    ["👩‍🚀 🇬🇧", ["👩", "🚀"]],
    ["x²", ["x2"]],
    ["한국어", ["한국어"]],
    ["  \u0301 ", []],
  ])("of %s", (text, terms) => {
    expect(termsOf(text)).toEqual(expect.arrayContaining(terms));
    expect(termsOf(text)).toHaveLength(terms.length);
  });

  it("are the same for every way to write an accent", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        // A struck-out arrow is a pictograph only while its stroke stands apart; the rule is about letters.
        fc.pre(!/\p{Extended_Pictographic}/u.test(text.normalize("NFD")));
        expect(termsOf(text.normalize("NFD"))).toEqual(termsOf(text.normalize("NFC")));
      }),
    );
  });

  it("of a plain line are the same with and without a foreign character in it", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary-ascii" }), (text) => {
        expect(termsOf(`${text} é`).filter((term) => term !== "e")).toEqual(
          termsOf(text).filter((term) => term !== "e"),
        );
      }),
    );
  });

  it("of a query are the first sixteen different ones", () => {
    const words = Array.from({ length: 30 }, (_, i) => `w${i}`);
    expect(queryTerms([...words, ...words].join(" "))).toEqual(words.slice(0, 16));
  });
});

describe("an excerpt", () => {
  it("is always an exact part of the text, within its size, and never half a character", () => {
    const texts = fc.string({ unit: "grapheme", minLength: 0, maxLength: 200 });
    fc.assert(
      fc.property(
        texts,
        fc.integer({ min: 1, max: 120 }),
        fc.integer({ min: 0, max: 40 }),
        (text, max_bytes, lead_bytes) => {
          const excerpt = toExcerpt(intlGraphemes, text, { max_bytes, lead_bytes }, new Set(termsOf(text).slice(-1)));
          expect(text).toContain(excerpt);
          expect(utf8Length(excerpt)).toBeLessThanOrEqual(max_bytes);
          expect(excerpt.isWellFormed()).toBe(true);
        },
      ),
    );
  });

  it("cuts a single huge character between code points, and only then", () => {
    const huge = `e${"\u0301".repeat(1000)}`;
    const excerpt = toExcerpt(intlGraphemes, huge, { max_bytes: 100, lead_bytes: 0 });
    expect(huge.startsWith(excerpt)).toBe(true);
    expect(utf8Length(excerpt)).toBe(99);
  });
});
