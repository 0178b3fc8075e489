import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createGitWork } from "./work-tree.ts";

// Guards: what a person is told about their own tree since an agent began. Commits are counted only where they follow, and
// an edit is what no commit explains.

it("counts commits that follow and edits that no commit explains, and knows when the history is another one", async () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-moved-")));
  try {
    const root = join(base, "repo");
    const objects = join(base, "objects");
    const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=Ida", "-c", "user.email=ida@example.test", ...args], {
        cwd: root,
        env,
        stdio: "pipe",
      });
    execFileSync("git", ["init", "-q", "-b", "main", root], { env });
    const write = (path: string, text: string) => writeFileSync(join(root, path), text);
    for (const path of ["a", "b", "c"]) write(path, "first\n");
    git("add", ".");
    git("commit", "-qm", "first");
    write("a", "dirty before\n");
    const work = createGitWork(root);
    const look = async () => ({
      commit: (await work.head()).commit,
      tree: await work.writeWorkingTree(objects, true),
    });
    const begin = await look();
    const moved = async () => await work.movedSince(begin, await look(), objects);
    expect(await moved()).toEqual({ commits: 0, edits: 0 });
    write("b", "edited\n");
    write("new", "untracked\n");
    expect(await moved()).toEqual({ commits: 0, edits: 2 });
    // What was dirty before and is committed as it was is no edit, and what is committed is none any more.
    git("add", "a", "b");
    git("commit", "-qm", "second");
    expect(await moved()).toEqual({ commits: 1, edits: 1 });
    write("b", "edited after the commit\n");
    expect(await moved()).toEqual({ commits: 1, edits: 2 });
    git("checkout", "-q", "--", "b");
    git("checkout", "-q", "--orphan", "other");
    git("commit", "-qm", "another history");
    expect(await moved()).toEqual({ commits: null, edits: 1 });
    expect(await work.movedSince({ ...begin, commit: "1".repeat(40) }, await look(), objects)).toEqual({
      commits: null,
      edits: 0,
    });
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
});
