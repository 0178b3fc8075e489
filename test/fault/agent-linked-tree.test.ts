import { execFileSync } from "node:child_process";
import { renameSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeAgentRepo } from "../support/agent-repo.ts";

/** The repository of a linked work tree lies elsewhere, and its copy still leads there. */
it.each(["ns-overlay", "landlock", "audit"])(
  "a commit in a linked work tree never goes unnoticed, under %s",
  async (guard) => {
    const repo = makeAgentRepo();
    repo.write("lamp.txt", "off\n");
    repo.git("add", ".");
    repo.git("commit", "-qm", "first");
    const main = join(repo.base, "main");
    renameSync(repo.root, main);
    const git = (...args: string[]) => execFileSync("git", ["-C", main, ...args], { encoding: "utf8" });
    git("worktree", "add", "-q", "-b", "side", repo.root);
    const before = git("rev-parse", "side");
    const script =
      'echo on > lamp.txt; git -c user.name=A -c user.email=a@example.org commit -qam own && git log -1 --format=%s > own.txt || true; echo x > "$(git rev-parse --git-common-dir)/planted" || true';
    const { summary } = await repo.agent(["--no-verify", "--guard", guard], ["sh", "-c", script]);
    const isSame = git("rev-parse", "side") === before;
    if (guard === "audit") {
      expect([isSame, summary.proof.accepted, summary.proof.condition]).toEqual([false, false, "GUARD_VIOLATION"]);
      expect(summary.changes.files).toEqual([]);
    } else expect([isSame, summary.proof.accepted]).toEqual([true, true]);
    // Its repository is a layer too where the guard has them: it can commit, and nothing of that stays.
    const committed = guard === "ns-overlay" ? ["lamp.txt", "own.txt"] : ["lamp.txt"];
    if (guard !== "audit") expect(summary.changes.files.map(({ path }) => path)).toEqual(committed);
  },
);
