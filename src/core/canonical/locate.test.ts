import { describe, expect, it } from "vitest";
import type { VerbatimError } from "../errors/index.ts";
import { locatePointers } from "./locate.ts";
import { parseJson } from "./parse.ts";

const TEXT = '{\n  "a/b": [1, {"~": "x\\"]}"}],\n  "\\u0063": {"d": null}\n}';

describe("the place of a pointer", () => {
  it.each([
    ["", 1, 1],
    ["/a~1b", 2, 3],
    ["/a~1b/0", 2, 11],
    ["/a~1b/1", 2, 14],
    ["/a~1b/1/~0", 2, 15],
    ["/c", 3, 3],
    ["/c/d", 3, 14],
  ])("%j is line %i, column %i", (pointer, line, column) => {
    expect(locatePointers(TEXT, [pointer])).toEqual([{ line, column }]);
  });

  it("that leads nowhere is the nearest enclosing one", () => {
    expect(locatePointers(TEXT, ["/c/missing/deep"])).toEqual([{ line: 3, column: 3 }]);
    expect(locatePointers(TEXT, ["/a~1b/7"])).toEqual([{ line: 2, column: 3 }]);
    expect(locatePointers(" 1", ["/x"])).toEqual([{ line: 1, column: 2 }]);
  });

  it("is found behind strings that end with an escaped quote or backslash", () => {
    const text = String.raw`{"a": "x\"", "b": "\\", "c": {"d": "\"]}"}, "e": 1}`;
    expect(locatePointers(text, ["/b", "/c", "/e"]).map(({ column }) => column)).toEqual([14, 25, 45]);
  });

  it("comes in the order asked for, also when asked for twice", () => {
    const places = locatePointers(TEXT, ["/c/d", "", "/a~1b", "/c/d"]);
    expect(places.map(({ line, column }) => [line, column])).toEqual([
      [3, 14],
      [1, 1],
      [2, 3],
      [3, 14],
    ]);
  });
});

describe("a number that is wrong in two ways", () => {
  it.each([
    ["1e400e5", "JSON_NUMBER_RANGE"],
    [`${"1".repeat(4301)}.`, "JSON_NUMBER_RANGE"],
    ["1e5e400", "JSON_SYNTAX"],
    ["01e400", "JSON_SYNTAX"],
  ])("is refused for what comes first in reading order", (text, code) => {
    expect(() => parseJson(text)).toThrow(expect.objectContaining<Partial<VerbatimError>>({ code: code as never }));
  });
});
