// Key matching finds what a naive matcher finds: words that follow each other in one text, nothing else.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type LoreKeys, LoreMatcher } from "../../src/rooms/world/knowledge/lore-match.ts";
import { allTerms } from "../../src/rooms/world/retrieval/terms.ts";

const WORDS = ["the", "old", "Key", "key", "Tür", "潮", "潮汐", "pot", "blue", "a", "👨‍👩‍👧‍👦"] as const;
const GLUE = [" ", ", ", "-", "\n", ".* ", "|"] as const;
const phrase = (most: number) =>
  fc
    .array(fc.tuple(fc.constantFrom(...WORDS), fc.constantFrom(...GLUE)), { maxLength: most })
    .map((parts) => parts.map(([word, glue]) => word + glue).join(""));
const line: fc.Arbitrary<LoreKeys> = fc.record({
  keys: fc.array(phrase(3), { maxLength: 4 }),
  also: fc.array(phrase(2), { maxLength: 2 }),
  match: fc.constantFrom("any", "all", "not"),
  always: fc.boolean(),
});

function holds(text: string, key: string): boolean {
  const [terms, wanted] = [[...allTerms(text)], [...allTerms(key)]];
  if (wanted.length === 0) return false;
  return terms.some((_, at) => wanted.every((term, i) => terms[at + i] === term));
}

function matchNaively(lines: readonly LoreKeys[], texts: readonly string[]) {
  return lines.flatMap(({ keys, also, match, always }, index) => {
    const found = keys.filter((key) => texts.some((text) => holds(text, key)));
    const further = also.map((key) => texts.some((text) => holds(text, key)));
    const meets = { any: further.includes(true), all: !further.includes(false), not: !further.includes(true) }[match];
    const isDue = always || (found.length > 0 && (also.length === 0 || meets));
    return isDue ? [{ index, keys: found }] : [];
  });
}

describe("keys of lore", () => {
  it("match as a naive matcher does, whatever the keys and the texts are", () => {
    const all = fc.tuple(fc.array(line, { maxLength: 8 }), fc.array(phrase(12), { maxLength: 3 }));
    fc.assert(
      fc.property(all, ([lines, texts]) => {
        expect(new LoreMatcher(lines).match(texts)).toEqual(matchNaively(lines, texts));
      }),
      { numRuns: 500 },
    );
  });

  it("are words, never patterns: what looks like an expression finds only its own words", () => {
    const rule = { also: [], match: "any", always: false } as const;
    const matcher = new LoreMatcher([
      { ...rule, keys: ["/k.*y/i"] },
      { ...rule, keys: ["(a+)+$"] },
      { ...rule, keys: ["..."] },
    ]);
    expect(matcher.match(["the key", "aaaaaaaaaaaaaaaaaaaaaaaaaaaa!", "..."])).toEqual([]);
    expect(matcher.match(["k y i", "a $"]).map(({ index }) => index)).toEqual([0, 1]);
  });
});
