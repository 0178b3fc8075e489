import { describe, expect, it } from "vitest";
import { countLines, sliceText, toLines } from "../../../core/text/index.ts";
import { DEFAULT_CHARS, DEFAULT_LINES, defaultSlice, parseAskedRef } from "./expansion.ts";

// Guards: what a model writes for a place is read in one way, and what it does not say is bounded for it.

const ID = "0f".repeat(32);

describe("an asked ref", () => {
  it.each([
    ["@CANON/RULES", { kind: "symbol", symbol_id: "@CANON/RULES", slice: null }],
    ["@CANON/RULES head(2)", { kind: "symbol", symbol_id: "@CANON/RULES", slice: "head(2)" }],
    [ID, { kind: "id", digits: ID, slice: null }],
    [`${ID} lines[0:4]`, { kind: "id", digits: ID, slice: "lines[0:4]" }],
    ["0f0f", { kind: "id", digits: "0f0f", slice: null }],
    ["docs/a.md", { kind: "address", address: "docs/a.md", slice: null }],
    ["docs/a b.md lines[3:9]", { kind: "address", address: "docs/a b.md", slice: "lines[3:9]" }],
    ["src/a.ts#Parser/parse", { target: { type: "HEADING", file_path: "src/a.ts", parts: ["Parser", "parse"] } }],
    ["docs/a.md lines[3:9] ", { address: "docs/a.md lines[3:9] ", slice: null }],
    ["odd%20lines[0:1]", { target: { type: "FILE", file_path: "odd lines[0:1]" }, slice: null }],
    [" lines[0:1]", { address: " lines[0:1]", slice: null }],
  ])("%j", (text, read) => {
    expect(parseAskedRef(text)).toMatchObject(read);
  });

  it.each(["", "a#b#c", "docs/%zz.md", "#Rules"])("refuses %j as an address", (text) => {
    expect(() => parseAskedRef(text)).toThrowError(expect.objectContaining({ code: "TARGET_SYNTAX" }));
  });
});

describe("the slice of an address without one", () => {
  const sliceOf = (text: string) => {
    const lines = toLines(text);
    return defaultSlice(lines, 0, countLines(lines));
  };

  it("is the whole of what is short, and the first lines or characters of what is not", () => {
    expect(sliceOf("a\nb\n")).toBe("lines[0:2]");
    expect(sliceOf("x\n".repeat(500))).toBe(`lines[0:${DEFAULT_LINES}]`);
    expect(sliceOf(`${"x".repeat(2999)}\n`.repeat(4))).toBe("lines[0:2]");
    expect(sliceOf(`${"x".repeat(DEFAULT_CHARS + 1)}\nb\n`)).toBe(`chars[0:${DEFAULT_CHARS}]`);
  });

  it("counts characters and not the units they are stored in, and can always be taken", () => {
    const wide = "\u{1f6a2}".repeat(DEFAULT_CHARS - 1);
    expect(sliceOf(`${wide}\nb\n`)).toBe("lines[0:1]");
    const long = "\u{1f6a2}".repeat(3 * DEFAULT_CHARS);
    expect([...sliceText(long, sliceOf(long))]).toHaveLength(DEFAULT_CHARS);
  });

  it("asks an empty target for a line it does not have", () => {
    expect(() => sliceText("", sliceOf(""))).toThrowError(expect.objectContaining({ code: "SLICE_OUT_OF_BOUNDS" }));
  });
});
