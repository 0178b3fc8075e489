import { isVerbatimError, VerbatimError } from "../../core/errors/index.ts";
import { runGit, splitNul } from "./git-process.ts";
import { findGitPlace } from "./top-level.ts";
import { explainDistrust } from "./trusted-owner.ts";

/** A file, executable or not; links and submodules are something else. */
const REGULAR = /^100(?:644|755) /;

/** Whatever the objects of a partial clone would need, nothing is fetched for a list of names. */
const OFFLINE = ["-c", "protocol.allow=never"];

/**
 * Paths of the regular files below a folder that git tracks, relative to it; null where no work tree is around. Only the
 * index is read: no filter, no hook and no monitor runs. SOURCES_NOT_LISTED when git does not answer.
 */
export async function listTrackedFiles(root: string): Promise<readonly string[] | null> {
  const place = findGitPlace(root);
  if (place === null || place.isBare) return null;
  const answer = await askGit(root);
  if (answer.code !== 0) {
    throw new VerbatimError("SOURCES_NOT_LISTED", {
      where: root,
      ...(explainDistrust(answer.stderr) ?? {
        message: `git ls-files failed with ${answer.code}: ${answer.stderr.trim().slice(0, 400)}`,
      }),
    });
  }
  // During a merge a path is there up to three times.
  const paths = new Set<string>();
  for (const row of splitNul(answer.stdout)) if (REGULAR.test(row)) paths.add(row.slice(row.indexOf("\t") + 1));
  return [...paths];
}

async function askGit(root: string) {
  try {
    return await runGit({
      cwd: root,
      args: [...OFFLINE, "ls-files", "--stage", "-z"],
      env: { GIT_NO_LAZY_FETCH: "1" },
    });
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    throw new VerbatimError("SOURCES_NOT_LISTED", { message: thrown.message, where: root, cause: thrown });
  }
}
