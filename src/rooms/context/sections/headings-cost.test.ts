import { describe, expect, it } from "vitest";
import { countText, type Work } from "../../../../test/support/counted-text.ts";
import { HOSTILE_MARKDOWN } from "../../../../test/support/hostile-markdown.ts";
import { findHeadings } from "./headings.ts";

// Guards: reading headings costs time linear in the text, whatever the text is. Counted, not timed.

const SMALL = 4_000;
const FACTOR = 4;
const MOST_GROWTH = FACTOR ** 1.1;
const MOST_LOOKS_PER_CHARACTER = 40;
const LARGE = 400_000;

const cases = Object.entries(HOSTILE_MARKDOWN);

function countLooks(text: string): number {
  const work: Work = { characters: 0 };
  expect(findHeadings(countText(text, work))).toEqual(findHeadings(text));
  return work.characters;
}

describe("the cost of headings", () => {
  // A list or a stack that is walked once per character would need 10^11 steps here and more, and not come back.
  it.each(cases)("stays small on a long text: %s", (_, make) => {
    const text = make(LARGE);
    const { lines } = findHeadings(text);
    expect(lines).toBe(text.split("\n").length - (text.endsWith("\n") ? 1 : 0));
  });

  it.each(cases)("grows in line with the text: %s", (_, make) => {
    const small = make(SMALL);
    const large = make(SMALL * FACTOR);
    const looks = countLooks(large);
    expect(looks / countLooks(small)).toBeLessThan((MOST_GROWTH * large.length) / (small.length * FACTOR));
    expect(looks / large.length).toBeLessThan(MOST_LOOKS_PER_CHARACTER);
  });

  it("counts work that is quadratic as such", () => {
    const work: Work = { characters: 0 };
    const text = countText("x".repeat(1_000), work);
    for (let i = 0; i < text.length; i++) text.indexOf("y", i);
    expect(work.characters).toBeGreaterThan(400_000);
  });
});
