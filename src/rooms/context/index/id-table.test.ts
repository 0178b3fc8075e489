import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findCandidates, IdTableMaker, placeOf } from "./id-table.ts";

const idOf = (n: number) => createHash("sha256").update(String(n)).digest("hex");

describe("the table of ids", () => {
  it("finds every section again, and nothing that is not there", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 400 }), (files) => {
        const maker = new IdTableMaker();
        const places: { file: number; ordinal: number }[] = [];
        for (const [file, sections] of files.entries()) {
          for (let ordinal = 0; ordinal < sections; ordinal++) {
            maker.addSection(idOf(places.length));
            places.push({ file, ordinal });
          }
          maker.endFile();
        }
        const table = maker.finish();
        for (const [n, place] of places.entries()) {
          expect(findCandidates(table, idOf(n))).toContain(n);
          expect(placeOf(table, n)).toEqual(place);
        }
        expect(findCandidates(table, idOf(-1)).length).toBeLessThan(2);
      }),
      { seed: 4, numRuns: 30 },
    );
  });

  it("gives all sections of one id in index order", () => {
    const maker = new IdTableMaker();
    for (const id of [idOf(1), idOf(2), idOf(1), idOf(3), idOf(1)]) maker.addSection(id);
    maker.endFile();
    expect(findCandidates(maker.finish(), idOf(1))).toEqual([0, 2, 4]);
  });

  it("keeps its numbers exact for the smallest and the largest id", () => {
    const maker = new IdTableMaker();
    for (const id of ["f".repeat(64), "0".repeat(64), "f".repeat(64)]) maker.addSection(id);
    maker.endFile();
    const table = maker.finish();
    expect(findCandidates(table, "f".repeat(64))).toEqual([0, 2]);
    expect(findCandidates(table, "0".repeat(64))).toEqual([1]);
    expect([...table.ids].every(Number.isSafeInteger)).toBe(true);
  });

  it("may be empty", () => {
    expect(findCandidates(new IdTableMaker().finish(), idOf(1))).toEqual([]);
  });
});
