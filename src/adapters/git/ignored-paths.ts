import { lstatSync } from "node:fs";
import { join } from "node:path";
import { VerbatimError } from "../../core/errors/index.ts";
import { runGit, splitNul } from "./git-process.ts";

/**
 * Which of some paths the rules of a work tree ignore, whether they exist or not. One process for all of them. Where the
 * tree has a link in the place of a folder of a path, git has no answer, and the path is not ignored.
 */
export async function listIgnoredPaths(root: string, paths: readonly string[]): Promise<ReadonlySet<string>> {
  const asked = outsideOfLinks(root, paths);
  if (asked.length === 0) return new Set();
  const stdin = Buffer.from(asked.map((path) => `${path}\0`).join(""), "utf8");
  const { code, stdout, stderr } = await runGit({ cwd: root, args: ["check-ignore", "-z", "--stdin"], stdin });
  // 1 means that none is ignored.
  if (code > 1) throw new VerbatimError("PATCH_ENV_INVALID", { message: stderr.trim(), where: root });
  return new Set(splitNul(stdout));
}

function outsideOfLinks(root: string, paths: readonly string[]): string[] {
  const known = new Map<string, boolean>([["", false]]);
  const isBehind = (folder: string): boolean => {
    const there = known.get(folder);
    if (there !== undefined) return there;
    const isLink = lstatSync(join(root, folder), { throwIfNoEntry: false })?.isSymbolicLink() === true;
    const behind = isLink || isBehind(parentOf(folder));
    known.set(folder, behind);
    return behind;
  };
  return paths.filter((path) => !isBehind(parentOf(path.replace(/\/$/, ""))));
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}
