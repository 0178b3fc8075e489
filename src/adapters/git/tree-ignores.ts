import type { TreeIgnores } from "../../rooms/catalytic/ports.ts";
import { runGit, splitNul } from "./git-process.ts";

/** What git says about a tree; everything is null where there is no repository. */
export const treeIgnores: TreeIgnores = {
  async ignored(root) {
    const args = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
    const { code, stdout } = await runGit({ cwd: root, args });
    return code === 0 ? splitNul(stdout) : null;
  },
  async head(root) {
    const { code, stdout } = await runGit({ cwd: root, args: ["rev-parse", "--verify", "--quiet", "HEAD"] });
    return code === 0 ? stdout.toString("utf8").trim() : null;
  },
  async countCommits(root, after) {
    const not = after === null ? [] : ["--not", after];
    const { code, stdout } = await runGit({
      cwd: root,
      args: ["-c", "safe.directory=*", "rev-list", "--count", "--all", "HEAD", ...not, "--"],
    });
    return code === 0 ? Number(stdout.toString("utf8").trim()) : 0;
  },
};
