import { describe, expect, it } from "vitest";
import { findClosest } from "./closest-query.ts";
import { parseSearchQuery } from "./search-query.ts";

// Guards: a query that finds nothing is answered with one that finds something, and with as much of it as there is.

const PAGES = ["tide tables of the harbour", "harbour lights", "harbour dues and lights", "lamp oil"];

const count = async (query: string) => {
  const words = query.replaceAll('"', "").split(" ");
  return PAGES.filter((page) => words.every((word) => page.split(" ").includes(word))).length;
};

describe("the closest query", () => {
  it.each([
    ["where are harbour lights", "harbour lights"],
    ["dues tide harbour", "dues harbour"],
    ["lights harbour harbour whale", "lights harbour"],
    ["whale squid", null],
    ["whale", null],
    ["lamp", null],
  ])("of %j is %j", async (query, closest) => {
    expect(await findClosest(parseSearchQuery(query), count)).toBe(closest);
  });

  it("keeps phrases and beginnings of words as they were typed", async () => {
    const asked: string[] = [];
    const closest = await findClosest(parseSearchQuery('"harbour lights" lam* whale'), async (query) => {
      asked.push(query);
      return query === "whale" ? 0 : query.includes(" lam*") ? 0 : 1;
    });
    expect(closest).toBe('"harbour lights"');
    expect(asked).toEqual(['"harbour lights"', "lam*", "whale", '"harbour lights" lam*']);
  });

  it("asks about a dozen words at most", async () => {
    let asked = 0;
    const query = Array.from({ length: 30 }, (_, i) => `w${i}`).join(" ");
    await findClosest(parseSearchQuery(query), async () => {
      asked++;
      return 1;
    });
    expect(asked).toBeLessThanOrEqual(24);
  });
});
