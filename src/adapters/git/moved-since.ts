import type { MovedOn, TreeState } from "../../rooms/workflow/ports.ts";
import { requireGit, runGit, splitNul } from "./git-process.ts";

/** How a work tree came from one state to another: commits that were added, and paths that somebody edited besides. */
export async function findMoved(root: string, objects: string, from: TreeState, to: TreeState): Promise<MovedOn> {
  const env = { GIT_ALTERNATE_OBJECT_DIRECTORIES: objects };
  const compare = async (one: string, other: string) => {
    const args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", one, other];
    return splitNul(await requireGit({ cwd: root, args, env }));
  };
  const changed = await compare(from.tree, to.tree);
  if (from.commit === to.commit) return { commits: 0, edits: changed.length };
  const commits = await countCommits(root, from.commit, to.commit);
  // Where the old commit is gone, nobody can say any more what came with the new one.
  if (commits === null && !(await isThere(root, from.commit))) return { commits, edits: 0 };
  const committed = new Set(await compare(from.commit, to.commit));
  const local = new Set(await compare(to.commit, to.tree));
  return { commits, edits: changed.filter((path) => local.has(path) || !committed.has(path)).length };
}

/** Commits from one to a later one; null: the second does not follow the first. */
async function countCommits(root: string, from: string, to: string): Promise<number | null> {
  const { code } = await runGit({ cwd: root, args: ["merge-base", "--is-ancestor", from, to] });
  if (code !== 0) return null;
  const counted = await requireGit({ cwd: root, args: ["rev-list", "--count", `${from}..${to}`] });
  return Number(counted.toString("utf8").trim());
}

async function isThere(root: string, commit: string): Promise<boolean> {
  return (await runGit({ cwd: root, args: ["cat-file", "-e", `${commit}^{commit}`] })).code === 0;
}
