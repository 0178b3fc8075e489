import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { VerbatimError } from "../../core/errors/index.ts";
import { runGit, splitNul } from "./git-process.ts";
import { findGitDirs } from "./top-level.ts";

const NUL = "\0";

/**
 * Writes a copy of the index in which git does not look at some files of the tree, so that hidden ones do not count as
 * changed. Returns where the index belongs, or null where git tracks none of them.
 */
export async function writeHiddenIndex(root: string, paths: readonly string[], to: string): Promise<string | null> {
  const folder = findGitDirs(root)?.own ?? null;
  const index = folder === null ? null : join(folder, "index");
  if (index === null || paths.length === 0 || !existsSync(index)) return null;
  const ask = { cwd: root, env: { GIT_LITERAL_PATHSPECS: "1" } };
  // Given as arguments in pieces: this git need not know lists in files.
  const tracked: string[] = [];
  for (let at = 0; at < paths.length; at += 200) {
    const { code, stdout, stderr } = await runGit({
      ...ask,
      args: ["ls-files", "-z", "--", ...paths.slice(at, at + 200)],
    });
    if (code !== 0) throw failed(root, stderr);
    tracked.push(...splitNul(stdout));
  }
  if (tracked.length === 0) return null;
  copyFileSync(index, to);
  const { code, stderr } = await runGit({
    cwd: root,
    args: ["update-index", "-z", "--skip-worktree", "--stdin"],
    env: { GIT_INDEX_FILE: to },
    stdin: Buffer.from(tracked.map((path) => `${path}${NUL}`).join("")),
  });
  if (code !== 0) throw failed(root, stderr);
  return index;
}

function failed(root: string, stderr: string): VerbatimError {
  return new VerbatimError("INTERNAL", {
    message: `git could not leave hidden files out of its index: ${stderr.trim().split("\n", 1)[0] ?? ""}`,
    where: root,
  });
}
