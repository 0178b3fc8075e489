import { describe, expect, it } from "vitest";
import { findHeadings } from "../../src/rooms/context/sections/headings.ts";
import { oracleHeadings, withoutFrontMatter } from "../support/commonmark-oracle.ts";
import { makeDocument, seededNumbers } from "../support/markdown-fuzz.ts";

// Guards: the headings of a file are those of CommonMark 0.31.2 as its reference implementation reads them.

const DOCUMENTS = 100_000;
const PORTION = 10_000;

describe("headings of documents made of fragments", () => {
  it.each(Array.from({ length: DOCUMENTS / PORTION }, (_, i) => i))(
    "equal those of the reference implementation, portion %i",
    (portion) => {
      const next = seededNumbers(7_000 + portion);
      for (let i = 0; i < PORTION; i++) {
        const text = makeDocument(next);
        const ours = findHeadings(text).headings.map(({ level, line, text: label }) => ({ level, line, text: label }));
        expect(ours, JSON.stringify(text)).toEqual(oracleHeadings(withoutFrontMatter(text)));
      }
    },
  );
});
