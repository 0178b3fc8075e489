import { VerbatimError } from "../../core/errors/index.ts";
import { runGit, splitNul } from "./git-process.ts";

/**
 * Arguments that take every filter program of a repository's settings out of use, for calls that meet files of a
 * candidate: its `.gitattributes` would otherwise choose which of the user's programs run on them.
 */
export async function findNoFilters(root: string): Promise<readonly string[]> {
  return (await listFilters(root)).flatMap((name) => {
    // git reads a setting of the command line up to its first equals sign.
    if (name.includes("=")) {
      throw new VerbatimError("PATCH_ENV_INVALID", {
        message: `the filter ${JSON.stringify(name)} has an equals sign in its name and cannot be switched off`,
        where: root,
        fix: "Rename the filter in your git settings.",
      });
    }
    const empty = ["clean", "smudge", "process"].map((part) => `${name}.${part}=`);
    return [...empty, `${name}.required=false`].flatMap((setting) => ["-c", setting]);
  });
}

/** The filters of a repository's settings, as `filter.<name>`. */
export async function listFilters(root: string): Promise<readonly string[]> {
  const args = ["config", "-z", "--name-only", "--get-regexp", "^filter\\."];
  const { stdout } = await runGit({ cwd: root, args });
  return [...new Set(splitNul(stdout).map((key) => key.slice(0, key.lastIndexOf("."))))];
}
