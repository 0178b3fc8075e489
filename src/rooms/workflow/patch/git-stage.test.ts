// The last stage of the gate: what stands in the tree, and what git says. git itself is a process and answers from a script here.
import { describe, expect, it } from "vitest";
import type { GitReply, PatchChecker, TargetType } from "../ports.ts";
import { judgePatchWithGit } from "./git-stage.ts";
import { DEFAULT_POLICY } from "./patch-policy.ts";

interface Tree {
  readonly types?: Readonly<Record<string, TargetType>>;
  readonly entries?: Readonly<Record<string, readonly string[]>>;
  readonly below?: Readonly<Record<string, readonly string[]>>;
  readonly reply?: Partial<GitReply>;
}

const asked = { targets: [] as readonly string[], entries: [] as readonly string[] };

function scripted({ types = {}, entries = {}, below = {}, reply = {} }: Tree): PatchChecker {
  return {
    requireUsable: async () => {},
    check: async () => ({ code: 0, stdout: Buffer.from(""), stderr: "", ...reply }) as GitReply,
    targets: async (paths) => {
      asked.targets = paths;
      return new Map(Object.entries(types));
    },
    entries: async (folders) => {
      asked.entries = folders;
      return new Map(Object.entries(entries));
    },
    below: async (folder) => below[folder] ?? [],
  };
}

function judge(patch: string, tree: Tree) {
  const input = { patch: Buffer.from(patch), policy: DEFAULT_POLICY, scope: null, planLimits: null };
  return judgePatchWithGit(input, scripted(tree), null);
}

const body = (path: string) => `--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-a\n+b\n`;
const modify = (path: string) => `diff --git a/${path} b/${path}\n${body(path)}`;
const create = (path: string) =>
  `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+x\n`;
const remove = (path: string) =>
  `diff --git a/${path} b/${path}\ndeleted file mode 100644\n--- a/${path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n`;
const rename = (from: string, to: string) => `diff --git a/${from} b/${to}\nrename from ${from}\nrename to ${to}\n`;
const modes = (path: string, old: string, next: string) =>
  `diff --git a/${path} b/${path}\nold mode ${old}\nnew mode ${next}\n`;
const says = (stdout: string) => ({ stdout: Buffer.from(stdout) });

describe("the git stage", () => {
  it("accepts what the tree can take and git reads as the gate does", async () => {
    const reply = says("1\t1\tsrc/deep/a\0");
    const types = { src: "folder", "src/deep": "folder", "src/deep/a": "file" } as const;
    expect(await judge(modify("src/deep/a"), { types, reply })).toMatchObject({
      verdict: "accept",
      changed_paths: ["src/deep/a"],
    });
    expect([...asked.targets].sort()).toEqual(["src", "src/deep", "src/deep/a"]);
    expect(asked.entries).toEqual([]);
  });

  it("asks for the names in every folder on the way to a new name", async () => {
    await judge(create("src/deep/a") + rename("b", "lib/b"), {});
    expect([...asked.entries].sort()).toEqual(["", "lib", "src", "src/deep"]);
  });

  it("does not ask git about what the gate refuses by itself", async () => {
    const reply = { code: 1, stderr: "error" };
    expect(await judge("prose\n", { reply })).toMatchObject({ stage: "parse", rule: "bad_start" });
  });

  it("refuses what git refuses, in git's words", async () => {
    const reply = { code: 1, stderr: ` error: patch failed${"!".repeat(5000)}\n` };
    expect(await judge(modify("a"), { types: { a: "file" }, reply })).toEqual({
      verdict: "reject",
      stage: "git_check",
      code: "PATCH_GIT_CHECK_FAIL",
      rule: "git_apply_check",
      stderr: `error: patch failed${"!".repeat(3981)}`,
    });
  });

  it("refuses what git reads in another way", async () => {
    expect(await judge(modify("a"), { types: { a: "file" }, reply: says("1\t1\tb\0") })).toMatchObject({
      verdict: "reject",
      code: "PATCH_GIT_MISMATCH",
      rule: "git_names",
      stderr: expect.stringContaining("git counts"),
    });
  });
});

describe("the tree", () => {
  it.each([
    ["a link that would be changed", modify("a"), { a: "link" }, "symlink", "a"],
    ["a folder that would be changed", modify("a"), { a: "folder" }, "not_regular_file", "a"],
    ["something else that would be deleted", remove("a"), { a: "other" }, "not_regular_file", "a"],
    ["a link that would be renamed", rename("a", "b"), { a: "link" }, "symlink", "a"],
    ["a new file below a link", create("l/x"), { l: "link" }, "symlink_parent", "l/x"],
    ["a new file far below a link", create("l/d/x"), { l: "link", "l/d": "folder" }, "symlink_parent", "l/d/x"],
    ["a new file below a file that stays", create("f/x"), { f: "file" }, "symlink_parent", "f/x"],
    ["a new file below something else", create("f/x"), { f: "other" }, "symlink_parent", "f/x"],
    ["a target of a rename below a link", rename("a", "l/b"), { a: "file", l: "link" }, "symlink_parent", "l/b"],
    ["a file below a link that goes", remove("l") + create("l/x"), { l: "link" }, "symlink", "l"],
    ["the second section", modify("a") + modify("b"), { a: "file", b: "link" }, "symlink", "b"],
  ] as const)("refuses %s", async (_, patch, types, rule, path) => {
    const reject = { verdict: "reject", stage: "git_check", code: "PATCH_TARGET_TYPE", rule, path };
    expect(await judge(patch, { types: types as Record<string, TargetType> })).toMatchObject(reject);
  });

  it("lets a plain file become a folder when the patch takes the file away", async () => {
    const reply = says("0\t1\tf\x001\t0\tf/x\0 delete mode 100644 f\n create mode 100644 f/x\n");
    const patch = remove("f") + create("f/x");
    expect(await judge(patch, { types: { f: "file" }, reply })).toMatchObject({ verdict: "accept" });
    // A link that goes is refused by itself; one that another section renames away is no way in either.
    const moved = create("f/x") + rename("f", "g");
    expect(await judge(moved, { types: { f: "link" } })).toMatchObject({
      rule: "symlink_parent",
      path: "f/x",
      line: 1,
    });
  });

  it("lets a folder become a file only when everything in it goes", async () => {
    const types = { d: "folder", "d/a": "file", "d/b": "file" } as const;
    const reply = says("0\t1\td/a\x001\t0\td\0 delete mode 100644 d/a\n create mode 100644 d\n");
    const patch = remove("d/a") + create("d");
    expect(await judge(patch, { types, reply, below: { d: ["d/a"] } })).toMatchObject({ verdict: "accept" });
    expect(await judge(patch, { types, reply, below: { d: ["d/a", "d/b"] } })).toMatchObject({
      verdict: "reject",
      code: "PATCH_TARGET_TYPE",
      rule: "folder_not_empty",
      line: 7,
      path: "d/b",
    });
  });

  it("looks into a folder only where the new name is one", async () => {
    const reply = says("1\t0\tn\0 create mode 100644 n\n");
    expect(await judge(create("n"), { reply, below: { n: ["n/x"] } })).toMatchObject({ verdict: "accept" });
  });

  it("refuses a twin of a name that is there, and names each of them", async () => {
    const entries = { "": ["README.md", "lib"] };
    const patch = create("readme.md") + create("Lib/x");
    expect(await judge(patch, { entries })).toEqual({
      verdict: "reject",
      stage: "git_check",
      code: "PATCH_PATH_INVALID",
      rule: "twin",
      line: 1,
      path: "readme.md",
      findings: [
        { code: "PATCH_PATH_INVALID", rule: "twin", path: "readme.md" },
        { code: "PATCH_PATH_INVALID", rule: "twin", path: "Lib/x" },
      ],
    });
  });
});

describe("a mode", () => {
  const reply = says("0\t0\ta\0 mode change 100644 => 100755 a\n");

  it.each([
    ["a plain file made executable", modes("a", "100644", "100755"), "file", reply],
    [
      "an index line that is right",
      `diff --git a/a b/a\nindex 1..2 100755\n${body("a")}`,
      "executable",
      says("1\t1\ta\0"),
    ],
    ["a new file, whose mode is nobody's yet", create("a"), "missing", says("1\t0\ta\0 create mode 100644 a\n")],
  ] as const)("is as the patch says: %s", async (_, patch, type, told) => {
    expect(await judge(patch, { types: { a: type }, reply: told })).toMatchObject({ verdict: "accept" });
  });

  it.each([
    ["an old mode the file does not have", modes("a", "100644", "100755"), "executable", reply],
    ["an old mode of a file that is not there", modes("a", "100644", "100755"), "missing", reply],
    ["an index line that is wrong", `diff --git a/a b/a\nindex 1..2 100755\n${body("a")}`, "file", says("1\t1\ta\0")],
  ] as const)("that is not the file's is refused: %s", async (_, patch, type, told) => {
    expect(await judge(patch, { types: { a: type }, reply: told })).toMatchObject({
      verdict: "reject",
      code: "PATCH_GIT_MISMATCH",
      stderr: expect.stringMatching(/^a does not have the mode 100/),
    });
  });
});
