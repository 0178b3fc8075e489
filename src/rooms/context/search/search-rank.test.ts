import { expect, it } from "vitest";
import { BestHits } from "./search-rank.ts";

function best(limit: number, offered: readonly (readonly [score: number, file: number, ordinal: number])[]) {
  const hits = new BestHits(limit);
  for (const [score, file, ordinal] of offered) if (hits.admits(score)) hits.keep(score, file, ordinal);
  return hits;
}

it("the best are kept in order of score, then of the index, and all are counted", () => {
  const { hits, total } = best(3, [
    [5, 2, 0],
    [9, 7, 1],
    [5, 1, 4],
    [5, 1, 3],
    [1, 0, 0],
    [9, 7, 0],
  ]);
  expect(hits.map(({ score, file, ordinal }) => [score, file, ordinal])).toEqual([
    [9, 7, 0],
    [9, 7, 1],
    [5, 1, 3],
  ]);
  expect(total).toBe(6);
});

it("only what scores less than the last of the best is turned away unseen", () => {
  const hits = best(1, [[5, 2, 0]]);
  expect([hits.admits(4), hits.admits(5), hits.admits(6)]).toEqual([false, true, true]);
});
