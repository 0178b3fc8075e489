// The grammar of a patch, line by line: what is read, and at which line and by which rule the rest is refused.
import { describe, expect, it } from "vitest";
import { judgePatch } from "./patch-gate.ts";
import { parsePatch } from "./patch-parser.ts";
import { DEFAULT_POLICY } from "./patch-policy.ts";
import type { PatchSection } from "./patch-section.ts";
import { PatchRefused } from "./rejection.ts";

const parse = (patch: string) => parsePatch(Buffer.from(patch));

/** Stage, rule and line of a refusal; the sections when there is none. */
function refusal(patch: string): unknown {
  try {
    return parse(patch);
  } catch (thrown) {
    if (!(thrown instanceof PatchRefused)) throw thrown;
    const { stage, rule, line } = thrown.rejection;
    return [stage, rule, line];
  }
}

const head = (path = "x") => `diff --git a/${path} b/${path}\n`;
const names = (path = "x") => `--- a/${path}\n+++ b/${path}\n`;
const hunk = "@@ -1 +1 @@\n-a\n+b\n";
const good = `${head()}${names()}${hunk}`;
const made = `${head("n")}new file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+x\n+y\n`;
const gone = `${head("o")}deleted file mode 100755\n--- a/o\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-x\n-y\n`;
const renamed = "diff --git a/p b/q\nrename from p\nrename to q\n";

const section = (more: Partial<PatchSection>): PatchSection => ({
  operation: "modify",
  old_path: "x",
  new_path: "x",
  old_mode: null,
  new_mode: null,
  index_mode: null,
  added: 0,
  deleted: 0,
  line: 1,
  ...more,
});

describe("a patch is read", () => {
  it("section by section, with modes, counts and lines", () => {
    const modes = `${head("m")}old mode 100644\nnew mode 100755\nindex 1..2\n`;
    const indexed = `${head("i")}index 1a..2B 100755\n${names("i")}${hunk}`;
    expect(parse(good + made + gone + renamed + modes + indexed)).toEqual([
      section({ added: 1, deleted: 1 }),
      section({ operation: "create", old_path: "n", new_path: "n", new_mode: "100644", added: 2, line: 7 }),
      section({ operation: "delete", old_path: "o", new_path: "o", old_mode: "100755", deleted: 2, line: 14 }),
      section({ operation: "rename", old_path: "p", new_path: "q", line: 21 }),
      section({ old_path: "m", new_path: "m", old_mode: "100644", new_mode: "100755", line: 24 }),
      section({ old_path: "i", new_path: "i", index_mode: "100755", added: 1, deleted: 1, line: 28 }),
    ]);
  });

  it("with the sums of all hunks of a section", () => {
    const second = "@@ -9,2 +9,3 @@ function name\n keep\n-c\n+d\n+e\n";
    expect(parse(good + second)).toEqual([section({ added: 3, deleted: 2 })]);
  });

  it.each([
    ["empty lines between sections and at the end", `${good}\n\r\n${made}\n\n`, 2],
    ["an empty line in a hunk, which is an empty line of context", `${head()}${names()}@@ -1,2 +1,2 @@\n\n-a\n+b\n`, 1],
    [
      "the mark of a missing newline, after either side",
      `${good.replace("-a\n", "-a\n\\ No newline at end of file\n")}\\ No newline at end of file\n`,
      1,
    ],
    [
      "a rename that changes mode and text",
      `diff --git a/p b/q\nold mode 100644\nnew mode 100755\nsimilarity index 90%\nrename from p\nrename to q\nindex 1..2\n--- a/p\n+++ b/q\n${hunk}`,
      1,
    ],
    ["a copy", "diff --git a/p b/q\nsimilarity index 100%\ncopy from p\ncopy to q\n", 1],
    ["a rewritten file", `${head()}dissimilarity index 99%\nindex 1..2 100644\n${names()}${hunk}`, 1],
    ["an empty new file", `${head()}new file mode 100644\nindex 1..2\n`, 1],
    ["an empty file that goes", `${head()}deleted file mode 100644\nindex 1..2\n`, 1],
  ])("%s", (_, patch, count) => {
    expect(parse(patch)).toHaveLength(count);
  });
});

describe("a patch is refused", () => {
  it.each([
    ["nothing", "", ["parse", "empty_patch", 1]],
    ["white space only", " \t\n\v\f\r\n", ["parse", "empty_patch", 1]],
    ["a control character below white space", "\b", ["parse", "bad_start", 1]],
    ["a control character above white space", "\x0e", ["parse", "bad_start", 1]],
    ["an empty line in front", `\n${good}`, ["parse", "bad_start", 1]],
    ["a NUL, at its line", good.replace("+b", "+\0"), ["policy", "binary_payload", 6]],
    ["a last line that does not end", good.slice(0, -1), ["parse", "no_final_newline", 6]],
    ["a header with a CR", good.replace("b/x\n---", "b/x\r\n---"), ["parse", "crlf_header", 1]],
    ["an extended line with a CR", `${head()}index 1..2\r\n${names()}${hunk}`, ["parse", "crlf_header", 2]],
    ["a new name with a CR", good.replace("+++ b/x", "+++ b/x\r"), ["parse", "crlf_header", 3]],
    ["a binary literal", `${head()}GIT binary patch\n`, ["policy", "binary_payload", 2]],
    ["a note about binary files", `${head()}Binary files a/x and b/x differ\n`, ["policy", "binary_payload", 2]],
    ["a new name without an old one", `${head()}+++ b/x\n${hunk}`, ["parse", "missing_pair", 2]],
    ["hunks without names", head() + hunk, ["parse", "missing_pair", 2]],
    ["an old name without a new one", `${head()}--- a/x\n${hunk}`, ["parse", "missing_pair", 3]],
    ["names without hunks", head() + names(), ["parse", "bad_hunk_header", 4]],
    ["names and then prose", `${head()}${names()}prose\n`, ["parse", "bad_hunk_header", 4]],
    ["a second hunk that is none", `${good}@@ nothing @@\n`, ["parse", "bad_hunk_header", 7]],
    ["a hunk cut off by the end", good.slice(0, -3), ["parse", "hunk_count", 4]],
    [
      "a last line of context that is missing",
      `${head()}${names()}@@ -1,2 +1,2 @@\n-a\n+b\n`,
      ["parse", "hunk_count", 4],
    ],
    ["a hunk cut off by a section", good.replace("+b\n", "") + made, ["parse", "hunk_count", 4]],
    ["a hunk cut off by a hunk", good.replace("+b\n", "") + hunk, ["parse", "hunk_count", 4]],
    [
      "a line of context more than the old side has",
      `${head()}${names()}@@ -0,0 +1 @@\n a\n`,
      ["parse", "hunk_count", 4],
    ],
    [
      "a line of context more than the new side has",
      `${head()}${names()}@@ -1 +0,0 @@\n a\n`,
      ["parse", "hunk_count", 4],
    ],
    ["a removed line more than was said", `${head()}${names()}@@ -0,0 +1 @@\n-a\n+b\n`, ["parse", "hunk_count", 4]],
    [
      "the mark twice",
      good.replace("-a\n", "-a\n\\ No newline at end of file\n\\ No newline at end of file\n"),
      ["parse", "hunk_line", 7],
    ],
    ["a mark in other words", good.replace("-a\n", "-a\n\\ No newline\n"), ["parse", "hunk_line", 6]],
    ["a mark in other words at the end", `${good}\\ No newline\n`, ["parse", "trailing_text", 7]],
    [
      "the mark twice at the end",
      `${good}\\ No newline at end of file\n\\ No newline at end of file\n`,
      ["parse", "trailing_text", 8],
    ],
    ["a section without a header", `${good}\n${names("k")}${hunk}`, ["parse", "headerless_section", 8]],
    ["an old name alone behind an empty line", `${good}\n--- a/k\nprose\n`, ["parse", "trailing_text", 8]],
    ["a line of context behind a hunk", `${good} c\n`, ["parse", "hunk_count", 7]],
    ["a removed line behind a hunk", `${good}-c\n`, ["parse", "hunk_count", 7]],
    ["a line of a hunk behind an empty line", `${good}\n+c\n`, ["parse", "trailing_text", 8]],
    ["prose behind a hunk", `${good}prose\n`, ["parse", "trailing_text", 7]],
    ["a hunk of context alone", `${head()}${names()}@@ -1 +1 @@\n a\n`, ["parse", "empty_hunk", 4]],
    ["a hunk of nothing", `${head()}${names()}@@ -0,0 +0,0 @@\n`, ["parse", "empty_hunk", 4]],
    ["a section that changes nothing", head(), ["parse", "no_change", 1]],
    ["a section with nothing but an index line", `${head()}index 1..2\n`, ["parse", "no_change", 1]],
    ["a mode that stays", `${head()}old mode 100644\nnew mode 100644\n`, ["parse", "no_change", 1]],
    ["a rename to itself", "diff --git a/p b/p\nrename from p\nrename to p\n", ["parse", "no_change", 1]],
    ["half a pair of modes", `${head()}old mode 100644\n`, ["parse", "missing_pair", 2]],
    ["half a copy", "diff --git a/p b/q\ncopy to q\n", ["parse", "missing_pair", 2]],
    ["half a rename", "diff --git a/p b/q\nrename from p\n", ["parse", "missing_pair", 2]],
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
    ["prose behind a rename", `${renamed}\nprose\n`, ["parse", "trailing_text", 5]],
  ])("%s", (_, patch, expected) => {
    expect(refusal(patch)).toEqual(expected);
  });
});

describe("what is made or goes is refused", () => {
  it.each([
    ["new, with an old name", made.replace("/dev/null", "a/n"), ["parse", "dev_null", 3]],
    ["new, without a new name", made.replace("+++ b/n", "+++ /dev/null"), ["parse", "dev_null", 4]],
    ["deleted, with a new name", gone.replace("/dev/null", "b/o"), ["parse", "dev_null", 4]],
    ["deleted, without an old name", gone.replace("--- a/o", "--- /dev/null"), ["parse", "dev_null", 3]],
    ["changed, without a new name", good.replace("+++ b/x", "+++ /dev/null"), ["parse", "dev_null", 3]],
    ["new in two pieces", `${made}@@ -0,0 +9 @@\n+z\n`, ["parse", "hunk_count", 1]],
    ["deleted in two pieces", `${gone}@@ -9 +0,0 @@\n-z\n`, ["parse", "hunk_count", 1]],
    ["deleted with something left", gone.replace("+0,0 @@\n", "+1 @@\n+z\n"), ["parse", "hunk_count", 1]],
    ["deleted under another name", gone.replace("--- a/o", "--- a/k"), ["parse", "name_mismatch", 3]],
    ["new under another name", made.replace("+++ b/n", "+++ b/k"), ["parse", "name_mismatch", 4]],
  ])("%s", (_, patch, expected) => {
    expect(refusal(patch)).toEqual(expected);
  });
});

it("an error of the program is no refusal of the patch", () => {
  expect(() => parsePatch(null as never)).toThrow(TypeError);
  expect(() => judgePatch({ patch: null as never, policy: DEFAULT_POLICY, scope: null, planLimits: null })).toThrow(
    TypeError,
  );
});

describe("a path stands in one section only", () => {
  it.each([
    ["the old side of a rename changed before", good.replaceAll("/x", "/p") + renamed, ["parse", "duplicate_path", 7]],
    ["the new side of a rename made before", made.replaceAll(/\/n\b/g, "/q") + renamed, ["parse", "duplicate_path", 8]],
    ["the old side of a rename changed behind", renamed + good.replaceAll("/x", "/P"), ["parse", "duplicate_path", 4]],
  ])("%s", (_, patch, expected) => {
    expect(refusal(patch)).toEqual(expected);
  });

  it("but may be copied and changed", () => {
    const copied = "diff --git a/x b/q\ncopy from x\ncopy to q\n";
    expect(parse(copied + good)).toHaveLength(2);
  });

  it("and a rename that only changes the case is one section", () => {
    expect(parse("diff --git a/p b/P\nrename from p\nrename to P\n")).toHaveLength(1);
  });
});
