import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createPatchChecker } from "./patch-check.ts";
import { formatIndex } from "./scratch-index.ts";

const base = mkdtempSync(join(tmpdir(), "verbatim-check-"));
afterAll(() => rmSync(base, { recursive: true }));

const LONG = `${"long/".repeat(40)}${"n".repeat(200)}`;
const FILES = { "a.txt": "a\n", "a/b": "", "src/one.txt": "one\n", "src/é.txt": "e\n", run: "x\n", [LONG]: "l\n" };

function git(root: string, args: readonly string[], env: Record<string, string> = {}): string {
  const person = ["-c", "user.name=Mira", "-c", "user.email=mira@example.org"];
  return execFileSync("git", ["-C", root, ...person, ...args], { encoding: "utf8", env: { ...process.env, ...env } });
}

function makeRepository(format: string): { readonly root: string; readonly tree: string } {
  const root = join(base, format);
  mkdirSync(root);
  git(root, ["init", "-q", "-b", "main", `--object-format=${format}`]);
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  chmodSync(join(root, "run"), 0o755);
  symlinkSync("src", join(root, "link"));
  git(root, ["add", "."]);
  git(root, ["commit", "-qm", "first"]);
  return { root, tree: git(root, ["rev-parse", "HEAD^{tree}"]).trim() };
}

const edit = (path: string, was: string) =>
  `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-${was}\n+new\n`;
const create = (path: string) =>
  `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+x\n`;
const remove = (path: string, was: string) =>
  `diff --git a/${path} b/${path}\ndeleted file mode 100644\n--- a/${path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-${was}\n`;
const rename = (from: string, to: string) =>
  `diff --git a/${from} b/${to}\nsimilarity index 100%\nrename from ${from}\nrename to ${to}\n`;
const setMode = (path: string, was: string, is: string) =>
  `diff --git a/${path} b/${path}\nold mode ${was}\nnew mode ${is}\n`;

const parts = (path: string) => path.split("/").map((_, i, names) => names.slice(0, i + 1).join("/"));

const ALL = "all at once";
const CASES: readonly [string, string, readonly string[], number][] = [
  ["an edit", edit("src/one.txt", "one"), ["src/one.txt"], 0],
  ["an edit of another text", edit("src/one.txt", "two"), ["src/one.txt"], 1],
  ["an edit below a very long name", edit(LONG, "l"), [LONG], 0],
  ["an edit of a name beyond ASCII", edit("src/é.txt", "e"), ["src/é.txt"], 0],
  ["an edit of nothing", edit("src/none.txt", "x"), ["src/none.txt"], 1],
  ["an edit through a link", edit("link/one.txt", "one"), ["link/one.txt"], 1],
  ["a new file", create("src/two.txt"), ["src/two.txt"], 0],
  ["a new file where one is", create("src/one.txt"), ["src/one.txt"], 1],
  ["a new file beyond a link", create("link/two.txt"), ["link/two.txt"], 1],
  ["a new file where a folder is", create("src"), ["src"], 0],
  ["a file that goes", remove("a.txt", "a"), ["a.txt"], 0],
  ["a file that becomes a folder", remove("run", "x") + create("run/x"), ["run", "run/x"], 0],
  ["a renamed file", rename("a.txt", "a/c.txt"), ["a.txt", "a/c.txt"], 0],
  ["a file renamed onto another", rename("a.txt", "run"), ["a.txt", "run"], 1],
  ["another mode", setMode("run", "100755", "100644"), ["run"], 0],
  [ALL, edit("a.txt", "a") + create("x/y/z") + remove("src/one.txt", "one"), ["a.txt", "x/y/z", "src/one.txt"], 0],
];

describe.each(["sha1", "sha256"])("a patch against a tree of %s, by the paths it names", (format) => {
  const { root, tree } = makeRepository(format);
  const on = { tree, objects: null };

  // A configuration that mentions the case of names makes the checker read the whole tree.
  async function checkBoth(patch: string, named: readonly string[]) {
    const paths = [...new Set(named.flatMap(parts))];
    const checker = createPatchChecker(root);
    const some = await checker.check(Buffer.from(patch), on, paths);
    git(root, ["config", "core.ignorecase", "false"]);
    const whole = await checker.check(Buffer.from(patch), on, paths);
    git(root, ["config", "--unset", "core.ignorecase"]);
    return { some, whole };
  }

  it.each(format === "sha1" ? CASES : CASES.filter(([name]) => name === ALL))(
    "is answered as with the whole tree: %s",
    async (_, patch, named, code) => {
      const { some, whole } = await checkBoth(patch, named);
      expect(some).toEqual(whole);
      expect(some.code === 0 ? 0 : 1, some.stderr).toBe(code);
    },
  );

  it("has an index that git reads as its own", () => {
    const rows = git(root, ["ls-tree", "-r", "-t", "-z", tree]).split("\0").slice(0, -1);
    const toRow = (row: string) => {
      const [mode, , id] = row.slice(0, row.indexOf("\t")).split(" ") as [string, string, string];
      return { mode, id, path: row.slice(row.indexOf("\t") + 1) };
    };
    const place = join(base, `index-${format}`);
    writeFileSync(place, formatIndex(rows.map(toRow).reverse(), tree.length / 2));
    const env = { GIT_INDEX_FILE: place };
    expect(git(root, ["write-tree"], env).trim()).toBe(tree);
    // Only fsck compares the hash at the end.
    git(root, ["fsck", "--no-progress"], env);
  });
});
