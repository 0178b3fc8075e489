// What git says about a patch has to be what the gate read in it: file for file, count for count, kind for kind.
import { describe, expect, it } from "vitest";
import { findGitMismatch } from "./git-answer.ts";
import type { PatchSection } from "./patch-section.ts";

const plain: PatchSection = {
  operation: "modify",
  old_path: "src/a",
  new_path: "src/a",
  old_mode: null,
  new_mode: null,
  index_mode: null,
  added: 2,
  deleted: 1,
  line: 1,
};
const find = (output: string | Uint8Array, ...sections: PatchSection[]) =>
  findGitMismatch(typeof output === "string" ? Buffer.from(output) : output, sections);

const created: PatchSection = { ...plain, operation: "create", new_mode: "100644", deleted: 0 };
const deleted: PatchSection = { ...plain, operation: "delete", old_mode: "100755", new_path: "other", added: 0 };
const renamed: PatchSection = { ...plain, operation: "rename", new_path: "src/b", added: 0, deleted: 0 };
const changed: PatchSection = { ...plain, old_mode: "100644", new_mode: "100755" };

describe("an answer of git", () => {
  it.each([
    ["a changed file", "2\t1\tsrc/a\0", [plain]],
    [
      "two files, in the order of the patch",
      "2\t1\tsrc/a\x000\t0\tsrc/b\0 rename src/{a => b} (100%)\n",
      [plain, renamed],
    ],
    ["a new file", "2\t0\tsrc/a\0 create mode 100644 src/a\n", [created]],
    ["a file that goes, by its old name", "0\t1\tsrc/a\0 delete mode 100755 src/a\n", [deleted]],
    ["a copy", "0\t0\tsrc/b\0 copy src/{a => b} (100%)\n", [{ ...renamed, operation: "copy" } as const]],
    ["another mode", "2\t1\tsrc/a\0 mode change 100644 => 100755 src/a\n", [changed]],
    [
      "a rename with another mode, in whatever order git says so",
      "0\t0\tsrc/b\0 rename src/{a => b} (100%)\n mode change 100644 => 100755\n",
      [{ ...renamed, old_mode: "100644", new_mode: "100755" }],
    ],
    ["a rewrite, which only repeats the similarity", "2\t1\tsrc/a\0 rewrite src/a (90%)\n", [plain]],
  ])("agrees: %s", (_, output, sections) => {
    expect(find(output, ...sections)).toBeNull();
  });

  it.each([
    ["a file more", "2\t1\tsrc/a\x001\t1\tkey\0", [plain], "git sees 2 files, the gate sees 1"],
    [
      "two files more, of which one is enough",
      "2\t1\tsrc/a\x001\t1\tb\x001\t1\tc\0",
      [plain],
      "git sees 2 files, the gate sees 1",
    ],
    ["a file less", "2\t1\tsrc/a\0", [plain, renamed], "git sees 1 files, the gate sees 2"],
    ["nothing at all", "", [plain], "git sees 0 files, the gate sees 1"],
    ["another name", "2\t1\tkey\0", [plain], 'git counts "2\\t1\\tkey", the gate counts "2\\t1\\tsrc/a"'],
    ["another count", "3\t1\tsrc/a\0", [plain], 'git counts "3\\t1\\tsrc/a", the gate counts "2\\t1\\tsrc/a"'],
    [
      "the second of two",
      "2\t1\tsrc/a\x000\t0\tkey\0",
      [plain, renamed],
      'git counts "0\\t0\\tkey", the gate counts "0\\t0\\tsrc/b"',
    ],
    ["the new name of what goes", "0\t1\tother\0 delete mode 100755 other\n", [deleted], 'git counts "0\\t1\\tother"'],
    [
      "a new file announced for a change",
      "2\t1\tsrc/a\0 create mode 100644 src/a\n",
      [plain],
      'git announces ["create mode 100644"], the gate expects []',
    ],
    [
      "a new file not announced",
      "2\t0\tsrc/a\0",
      [created],
      'git announces [], the gate expects ["create mode 100644"]',
    ],
    ["a link", "2\t0\tsrc/a\0 create mode 120000 src/a\n", [created], 'git announces ["create mode 120000"]'],
    ["another mode than ours", "2\t1\tsrc/a\0 mode change 100755 => 100644 src/a\n", [changed], "git announces"],
    ["a mode we did not read", "2\t1\tsrc/a\0 mode change 100644 => 100755 src/a\n", [plain], "git announces"],
    ["a mode that stays", "2\t1\tsrc/a\0", [changed], 'the gate expects ["mode change 100644 => 100755"]'],
    [
      "a copy for a rename",
      "0\t0\tsrc/b\0 copy src/{a => b} (100%)\n",
      [renamed],
      'git announces ["copy"], the gate expects ["rename"]',
    ],
    [
      "a line we do not know",
      "2\t1\tsrc/a\0 created mode\n",
      [plain],
      'git announces [" created mode"], the gate expects []',
    ],
  ])("does not agree: %s", (_, output, sections, told) => {
    expect(find(output, ...sections)).toContain(told);
  });

  it("with a name that is no text agrees with nothing", () => {
    const output = Buffer.from("2\t1\tsrc/\u00ff\0", "latin1");
    expect(find(output, plain)).toBe('git counts "(not UTF-8)", the gate counts "2\\t1\\tsrc/a"');
  });

  it("with one of two modes announces no change of mode", () => {
    expect(find("2\t1\tsrc/a\0", { ...plain, old_mode: "100644" })).toBeNull();
    expect(find("2\t1\tsrc/a\0", { ...plain, new_mode: "100644" })).toBeNull();
  });
});
