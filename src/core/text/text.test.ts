import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Float } from "../canonical/index.ts";
import {
  applySlice,
  chargeBudgets,
  countLines,
  cutLines,
  parseSlice,
  sliceText,
  spaceScripts,
  toLines,
} from "./index.ts";

const oracleLines = (text: string): string[] => {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
};

describe("lines", () => {
  it.each([
    ["", 0],
    ["\n", 1],
    ["a", 1],
    ["a\n\n", 2],
    ["a\fb\u2028c\u0085d\r", 1],
  ])("%j has %d lines", (text, count) => {
    expect(countLines(toLines(text))).toBe(count);
  });

  it("cutting all lines gives the text back", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("a", "\n", "😀", "\r") }), (text) => {
        const lines = toLines(text);
        expect(cutLines(lines, 0, countLines(lines))).toBe(text);
        expect(countLines(lines)).toBe(oracleLines(text).length);
      }),
    );
  });
});

describe("slices", () => {
  it.each([
    ["SLICE_UNBOUNDED", " All\n"],
    ["SLICE_SYNTAX", "lines[0:1]\n"],
    ["SLICE_SYNTAX", "\u00a0all"],
    ["SLICE_SYNTAX", "lines[٠:١]"],
    ["SLICE_SYNTAX", "head(01)"],
    ["SLICE_SYNTAX", `head(${"1".repeat(60)})`],
    ["SLICE_EMPTY", "chars[5:5]"],
    ["SLICE_EMPTY", "lines[9007199254740993:9007199254740992]"],
  ])("refuses with %s: %j", (code, slice) => {
    expect(() => parseSlice(slice)).toThrowError(expect.objectContaining({ code }));
  });

  it("compares numbers beyond the safe range exactly", () => {
    expect(() => sliceText("a\n", "lines[9007199254740992:9007199254740993]")).toThrowError(
      expect.objectContaining({
        code: "SLICE_OUT_OF_BOUNDS",
        details: { lines: 1, chars: 2, suggested_slice: "lines[0:1]" },
      }),
    );
  });

  it("says what the target has and what to use instead", () => {
    const text = "x\n".repeat(212);
    expect(() => sliceText(text, "lines[0:400]", "@CANON/RULES")).toThrowError(
      "lines[0:400] asks for 400 lines, @CANON/RULES has 212. Use lines[0:212].",
    );
    expect(() => sliceText(text, "lines[200:400]", "@CANON/RULES")).toThrowError(
      "lines[200:400] asks for lines up to 400, @CANON/RULES has 212. Use lines[200:212].",
    );
    expect(() => sliceText("", "head(1)", "@CANON/RULES")).toThrowError("head(1) asks for 1 line, @CANON/RULES has 0.");
    expect(() => sliceText("ab", "chars[0:99999999999999999999]", "@CANON/RULES")).toThrowError(
      "asks for 99999999999999999999 characters, @CANON/RULES has 2. Use chars[0:2].",
    );
  });

  it("lines, head and tail agree with splitting, chars with code points", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "\n", "é", "😀"), maxLength: 30 });
    fc.assert(
      fc.property(text, fc.nat(12), fc.nat(12), (content, a, extra) => {
        const lines = oracleLines(content);
        const points = [...content];
        const b = a + 1 + extra;
        const cut = (slice: string): string | null => {
          try {
            return sliceText(content, slice);
          } catch (thrown) {
            expect((thrown as { code: string }).code).toBe("SLICE_OUT_OF_BOUNDS");
            return null;
          }
        };
        expect(cut(`lines[${a}:${b}]`)).toBe(b <= lines.length ? lines.slice(a, b).join("\n") : null);
        expect(cut(`head(${b})`)).toBe(b <= lines.length ? lines.slice(0, b).join("\n") : null);
        expect(cut(`tail(${b})`)).toBe(b <= lines.length ? lines.slice(-b).join("\n") : null);
        expect(cut(`chars[${a}:${b}]`)).toBe(b <= points.length ? points.slice(a, b).join("") : null);
      }),
      { numRuns: 1000 },
    );
  });

  it("counts a section's lines from its own first line", () => {
    const lines = toLines("0\n1\n2\n3\n");
    expect(applySlice({ lines, first: 1, last: 3 }, "lines[0:2]")).toBe("1\n2");
    expect(applySlice({ lines, first: 1, last: 3 }, "chars[0:4]")).toBe("1\n2\n");
    expect(() => applySlice({ lines, first: 1, last: 3 }, "head(3)")).toThrowError(
      expect.objectContaining({ details: { lines: 2, chars: 4, suggested_slice: "head(2)" } }),
    );
  });
});

describe("budgets", () => {
  it("adds bytes exactly beyond the safe range", () => {
    const half = Number.MAX_SAFE_INTEGER;
    const steps = [
      { section_id: "a", bytes: half },
      { section_id: "a", bytes: half },
    ];
    const { breach } = chargeBudgets([], steps, {
      max_symbols: 0,
      max_sections: 1,
      max_bytes_expanded: half,
      max_expands_per_step: 2,
    });
    expect(breach).toEqual({
      ordinal: 2,
      code: "BUDGET_BYTES",
      breaches: [{ budget: "max_bytes_expanded", limit: half, used: 18014398509481982n }],
    });
  });

  it("counts the symbols among the refs once each, and no section id", () => {
    const limits = { max_symbols: 2, max_sections: 1, max_bytes_expanded: 5, max_expands_per_step: 1 };
    const refs = ["@A/A", "a".repeat(64), "@A/B", "b".repeat(64), "@A/A"];
    const { cumulative, breach } = chargeBudgets(refs, [{ section_id: "a".repeat(64), bytes: 5 }], limits);
    expect(breach).toBeNull();
    expect(cumulative[0]?.max_symbols).toBe(2);
  });

  it.each([undefined, null, -1, 1.5, Number.NaN, 2 ** 53, "3", new Float(3)])("refuses %j as a limit", (limit) => {
    const limits = { max_symbols: 1, max_sections: limit as number, max_bytes_expanded: 1, max_expands_per_step: 1 };
    expect(() => chargeBudgets([], [], limits)).toThrowError(
      expect.objectContaining({ code: "INPUT_INVALID", where: "/budgets/max_sections" }),
    );
  });

  it("lists every exceeded budget in the contract's order and charges nothing after the breach", () => {
    const step = { section_id: "a", bytes: 5 };
    const result = chargeBudgets(["@A/A", "@A/B"], [step, step, step], {
      max_symbols: 1,
      max_sections: 0,
      max_bytes_expanded: 4,
      max_expands_per_step: 0,
    });
    expect(result.cumulative).toHaveLength(1);
    expect(result.breach?.code).toBe("BUDGET_SYMBOLS");
    expect(result.breach?.breaches.map((one) => one.budget)).toEqual([
      "max_symbols",
      "max_sections",
      "max_bytes_expanded",
      "max_expands_per_step",
    ]);
  });
});

describe("scripts without spaces", () => {
  it.each([
    ["日本語", "日 本 語"],
    ["iPhone手機15", "iPhone 手 機 15"],
    ["a 日 b", "a 日 b"],
    ["ที่นี่", "ที่ นี่"],
    ["plain words", "plain words"],
    ["。", "。"],
  ])("%j becomes %j", (text, spaced) => {
    expect(spaceScripts(text)).toBe(spaced);
  });
});
