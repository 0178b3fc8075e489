import type { TreeIgnores } from "../../rooms/catalytic/ports.ts";
import { runGit, splitNul } from "./git-process.ts";
import { countOwnCommits } from "./own-commits.ts";

/** What git says about a tree; everything is null where there is no repository. */
export const treeIgnores: TreeIgnores = {
  async ignored(root) {
    const args = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
    const { code, stdout } = await runGit({ cwd: root, args });
    return code === 0 ? splitNul(stdout) : null;
  },
  countCommits: countOwnCommits,
};
