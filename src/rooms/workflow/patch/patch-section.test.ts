// The header of a section: its two names, and the lines that say more about it.
import { describe, expect, it } from "vitest";
import { parsePatch } from "./patch-parser.ts";
import { readHeaderOperands } from "./patch-section.ts";
import { PatchRefused } from "./rejection.ts";

function tell(read: () => unknown): unknown {
  try {
    return read();
  } catch (thrown) {
    if (!(thrown instanceof PatchRefused)) throw thrown;
    const { rule, line } = thrown.rejection;
    return [rule, line];
  }
}

/** Stage, rule and line of a refusal; the sections when there is none. */
function refusal(patch: string): unknown {
  try {
    return parsePatch(Buffer.from(patch));
  } catch (thrown) {
    if (!(thrown instanceof PatchRefused)) throw thrown;
    const { stage, rule, line } = thrown.rejection;
    return [stage, rule, line];
  }
}

const head = () => "diff --git a/x b/x\n";
const names = () => "--- a/x\n+++ b/x\n";
const hunk = "@@ -1 +1 @@\n-a\n+b\n";
const renamed = "diff --git a/p b/q\nrename from p\nrename to q\n";

describe("the lines of a header are refused", () => {
  it.each([
    ["one of them twice", `${head()}index 1..2\nindex 1..2\n`, ["parse", "duplicate_header_line", 3]],
    ["an old mode alone", `${head()}old mode 100644\n`, ["parse", "missing_pair", 2]],
    ["a new mode alone", `${head()}index 1..2\nnew mode 100644\n`, ["parse", "missing_pair", 3]],
    ["a copy from nowhere", "diff --git a/p b/q\ncopy to q\n", ["parse", "missing_pair", 2]],
    ["a copy to nowhere", "diff --git a/p b/q\ncopy from p\n", ["parse", "missing_pair", 2]],
    ["a rename from nowhere", "diff --git a/p b/q\nrename to q\n", ["parse", "missing_pair", 2]],
    ["a rename and a copy", `${renamed}copy from p\ncopy to q\n`, ["parse", "conflicting_operations", 1]],
    [
      "new and deleted",
      `${head()}new file mode 100644\ndeleted file mode 100644\n`,
      ["parse", "conflicting_operations", 1],
    ],
    [
      "new with another mode",
      `${head()}new file mode 100644\nold mode 100644\nnew mode 100755\n`,
      ["parse", "conflicting_operations", 1],
    ],
    [
      "deleted with another mode",
      `${head()}deleted file mode 100644\nold mode 100644\nnew mode 100755\n`,
      ["parse", "conflicting_operations", 1],
    ],
    ["a rename to itself", "diff --git a/p b/p\nrename from p\nrename to p\n", ["parse", "no_change", 1]],
    ["nothing but an index line", `${head()}index 1..2\n`, ["parse", "no_change", 1]],
    ["nothing at all", head(), ["parse", "no_change", 1]],
    ["a similarity above all", `${renamed}similarity index 101%\n`, ["parse", "unknown_header_line", 4]],
    ["a similarity without a number", `${renamed}dissimilarity index x%\n`, ["parse", "unknown_header_line", 4]],
    ["an index line without two ids", `${head()}index 1\n${names()}${hunk}`, ["parse", "unknown_header_line", 2]],
    ["a mode of five digits in an index line", `${head()}index 1..2 10064\n${names()}${hunk}`, ["parse", "mode", 2]],
    ["another mode of six digits", `${head()}new file mode 100600\n`, ["policy", "mode", 2]],
    ["a mode of seven digits", `${head()}new file mode 1006440\n`, ["parse", "mode", 2]],
    ["a word that only begins like one of ours", `${head()}indexes 1..2\n`, ["parse", "unknown_header_line", 2]],
  ])("%s", (_, patch, expected) => {
    expect(refusal(patch)).toEqual(expected);
  });
});

describe("the lines of a header are read", () => {
  it.each([
    ["modes that differ", `${head()}old mode 100644\nnew mode 100755\n`, { old_mode: "100644", new_mode: "100755" }],
    ["a new file", `${head()}new file mode 100755\n`, { operation: "create", new_mode: "100755" }],
    ["a file that goes", `${head()}deleted file mode 100644\n`, { operation: "delete", old_mode: "100644" }],
    ["a similarity of nothing", `${renamed}similarity index 0%\n`, { operation: "rename", new_path: "q" }],
    ["a similarity of everything", `${renamed}similarity index 100%\n`, { operation: "rename" }],
    ["an index line with a mode", `${head()}index 0a..Ff 100644\n${names()}${hunk}`, { index_mode: "100644" }],
    ["an index line without one", `${head()}index 0a..Ff\n${names()}${hunk}`, { index_mode: null }],
    ["a quoted rename", 'diff --git "a/p" "b/q"\nrename from "p"\nrename to "q"\n', { old_path: "p", new_path: "q" }],
  ])("%s", (_, patch, expected) => {
    expect(refusal(patch)).toMatchObject([expected]);
  });

  it("but not with a CR at their end", () => {
    expect(refusal(`${head()}old mode 100644\r\nnew mode 100755\n`)).toEqual(["parse", "crlf_header", 2]);
  });
});

describe("the two names of a header", () => {
  const read = (text: string, known: { old: string; new: string } | null = null, hasBody = false) =>
    tell(() => readHeaderOperands(text, 4, known, hasBody, "posix"));
  const both = { old: "x", new: "y" };

  it.each([
    ["a/x b/x", { old: "x", new: "x" }],
    ["a/x b/x b/x b/x", { old: "x b/x", new: "x b/x" }],
    ['"a/x" "b/x"', { old: "x", new: "x" }],
    ['"a/x" b/x', { old: "x", new: "x" }],
    ['a/x "b/x"', { old: "x", new: "x" }],
    ["a/x b/y", ["header_mismatch", 4]],
    ["a/xx b/y", ["bad_header", 4]],
    ["a/x-b/x", ["bad_header", 4]],
    ["a/x  b/x", ["bad_header", 4]],
    ['"a/x"-"b/x"', ["bad_header", 4]],
    ['"a/x" b/"x', ["bad_quote", 4]],
    ['"a/x" "b/x" ', ["bad_quote", 4]],
    ['"a/x', ["bad_quote", 4]],
    ['a/x-b/x"', ["bad_quote", 4]],
    ['a/"x "b/x"', ["bad_quote", 4]],
    ['a/x "b/x" "', ["bad_quote", 4]],
    ['a/" b/"', ["bad_quote", 4]],
    ['a/"x b/"x', ["bad_quote", 4]],
    ["b/x b/x", ["prefix", 4]],
    ["a/x a/x", ["prefix", 4]],
    ["a/.. b/..", ["dot_component", 4]],
  ])("%s", (text, expected) => {
    expect(read(text)).toEqual(expected);
  });

  it("are those of the rename lines, which alone say where they part", () => {
    expect(read("a/x b/y", both)).toEqual(both);
    expect(read("a/p q b/r", { old: "p q", new: "r" })).toEqual({ old: "p q", new: "r" });
    expect(read('"a/x" "b/y"', both)).toEqual(both);
    expect(read('"a/x" "b/z"', both)).toEqual(["header_mismatch", 4]);
    expect(read('"a/z" "b/y"', both)).toEqual(["header_mismatch", 4]);
    expect(read("a/x b/z", both)).toEqual(["header_mismatch", 4]);
    expect(read("a/\u00c3\u00a9 b/y", { old: "\u00e9", new: "y" })).toEqual({ old: "\u00e9", new: "y" });
  });

  it("that cannot be split are a mismatch as soon as other lines name the file", () => {
    expect(read("a/xx b/y", null, true)).toEqual(["header_mismatch", 4]);
  });
});
