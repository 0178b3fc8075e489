import { VerbatimError } from "../../core/errors/index.ts";
import { runGit, splitNul } from "./git-process.ts";

/** Which of some paths the rules of a work tree ignore, whether they exist or not. One process for all of them. */
export async function listIgnoredPaths(root: string, paths: readonly string[]): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set();
  const stdin = Buffer.from(paths.map((path) => `${path}\0`).join(""), "utf8");
  const { code, stdout, stderr } = await runGit({ cwd: root, args: ["check-ignore", "-z", "--stdin"], stdin });
  // 1 means that none is ignored.
  if (code > 1) throw new VerbatimError("PATCH_ENV_INVALID", { message: stderr.trim(), where: root });
  return new Set(splitNul(stdout));
}
