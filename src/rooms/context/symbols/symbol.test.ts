import { describe, expect, it } from "vitest";
import { parseSymbol, parseSymbolId, parseTarget } from "./symbol.ts";

const RULES = {
  symbol_id: "@CANON/RULES",
  target_type: "FILE",
  target_ref: "LAW/CANON/RULES.md",
  default_slice_policy: "head(3)",
};

describe("symbol ids", () => {
  it.each(["@A/b", "@CANON/a.b-c_d/9", "@X_1/0", `@A/${"b".repeat(253)}`])("%s is one", (id) => {
    expect(parseSymbolId(id)).toBe(id);
  });

  it.each([
    "@",
    "@A",
    "@A/",
    "@A//b",
    "@a/b",
    "@1A/b",
    "@A/_b",
    "@A/b ",
    "@A/b\n",
    "@A/\u0661",
    "\uff20A/b",
    `@A/${"b".repeat(254)}`,
    "",
    7,
    null,
    ["@A/b"],
  ])("%j is none", (value) => {
    expect(() => parseSymbolId(value)).toThrowError(expect.objectContaining({ code: "SYMBOL_SYNTAX", exit: 2 }));
  });
});

describe("symbols", () => {
  it("are read as they are, a heading reference in its canonical form", () => {
    expect(parseSymbol(RULES)).toEqual(RULES);
    expect(parseSymbol({ ...RULES, target_type: "HEADING", target_ref: "a%2fb.md#C%20D%2fE" })).toMatchObject({
      target_ref: "a/b.md#C D%2FE",
    });
  });

  it.each([
    [null, "SYMBOL_INVALID"],
    [[], "SYMBOL_INVALID"],
    [{ ...RULES, extra: 1 }, "SYMBOL_INVALID"],
    [{ symbol_id: "@A/b", target_type: "FILE", target_ref: "a" }, "SYMBOL_INVALID"],
    [{ ...RULES, symbol_id: "CANON/RULES" }, "SYMBOL_SYNTAX"],
    [{ ...RULES, target_type: "file" }, "SYMBOL_INVALID"],
    [{ ...RULES, target_type: "toString" }, "SYMBOL_INVALID"],
    [{ ...RULES, target_ref: 7 }, "SYMBOL_INVALID"],
    [{ ...RULES, target_ref: "" }, "TARGET_SYNTAX"],
    [{ ...RULES, target_ref: "a".repeat(4097) }, "TARGET_SYNTAX"],
    [{ ...RULES, target_type: "SECTION" }, "TARGET_SYNTAX"],
    [{ ...RULES, target_type: "SECTION", target_ref: "A".repeat(64) }, "TARGET_SYNTAX"],
    [{ ...RULES, target_type: "HEADING" }, "TARGET_SYNTAX"],
    [{ ...RULES, default_slice_policy: "ALL" }, "SLICE_UNBOUNDED"],
    [{ ...RULES, default_slice_policy: "lines[3:1]" }, "SLICE_EMPTY"],
    [{ ...RULES, default_slice_policy: " head(1)" }, "SLICE_SYNTAX"],
    [{ ...RULES, default_slice_policy: null }, "SYMBOL_INVALID"],
  ])("%j are refused with %s", (value, code) => {
    expect(() => parseSymbol(value)).toThrowError(expect.objectContaining({ code }));
  });

  it("name their target", () => {
    const section_id = "0123456789abcdef".repeat(4);
    expect(parseTarget({ target_type: "SECTION", target_ref: section_id })).toEqual({ type: "SECTION", section_id });
    expect(parseTarget({ target_type: "FILE", target_ref: "a#b%41.md" })).toEqual({
      type: "FILE",
      file_path: "a#b%41.md",
    });
    expect(parseTarget({ target_type: "HEADING", target_ref: "a%23.md#B/C" })).toEqual({
      type: "HEADING",
      file_path: "a#.md",
      parts: ["B", "C"],
    });
  });
});
