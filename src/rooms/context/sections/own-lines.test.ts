import { expect, it } from "vitest";
import { toLines } from "../../../core/text/index.ts";
import type { Section } from "../contracts/index.ts";
import { cutRanges, lineInRanges, ownRanges } from "./own-lines.ts";

function section(line_start: number, line_end: number, ...heading_path: string[]): Section {
  return { section_id: "", content_hash: "", file_path: "a", heading_path, line_start, line_end };
}

it("in Markdown the own lines of a section end at the first heading inside it", () => {
  const sections = [section(0, 9), section(1, 9, "A"), section(3, 5, "A", "B"), section(5, 9, "A", "C")];
  expect(sections.map((_, i) => ownRanges(sections, i))).toEqual([[[0, 1]], [[1, 3]], [[3, 5]], [[5, 9]]]);
});

it("what stands between and after the parts of a class is its own, and between functions the file's", () => {
  const sections = [
    section(0, 12),
    section(2, 9, "A"),
    section(3, 5, "A", "m"),
    section(6, 8, "A", "n"),
    section(10, 11, "f"),
  ];
  expect(sections.map((_, i) => ownRanges(sections, i))).toEqual([
    [
      [0, 2],
      [9, 10],
      [11, 12],
    ],
    [
      [2, 3],
      [5, 6],
      [8, 9],
    ],
    [[3, 5]],
    [[6, 8]],
    [[10, 11]],
  ]);
});

it("a title over the whole file takes all lines, and two names on one line keep theirs", () => {
  expect(ownRanges([section(0, 2), section(0, 2, "Title")], 0)).toEqual([]);
  const both = [section(0, 3), section(1, 2, "a"), section(1, 2, "b")];
  expect(both.map((_, i) => ownRanges(both, i))).toEqual([
    [
      [0, 1],
      [2, 3],
    ],
    [[1, 2]],
    [[1, 2]],
  ]);
});

it("sections that run into each other take nothing from each other", () => {
  const crossed = [section(0, 6), section(0, 4, "A"), section(3, 6, "B")];
  expect(ownRanges(crossed, 1)).toEqual([[0, 4]]);
  expect(ownRanges(crossed, 0)).toEqual([]);
});

it("text and line numbers of ranges", () => {
  const ranges = [
    [0, 1],
    [2, 4],
  ] as const;
  expect(cutRanges(toLines("a\nb\nc\nd"), ranges)).toBe("a\nc\nd");
  expect([0, 1, 2, 3].map((i) => lineInRanges(ranges, i))).toEqual([0, 2, 3, 3]);
  expect(lineInRanges([], 0)).toBe(0);
});
