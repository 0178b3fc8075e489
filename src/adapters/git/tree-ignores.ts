import { readdirSync, realpathSync, statSync } from "node:fs";
import type { TreeIgnores } from "../../rooms/catalytic/ports.ts";
import { runGit, splitNul } from "./git-process.ts";
import { writeHiddenIndex } from "./hidden-index.ts";
import { listIgnoredPaths } from "./ignored-paths.ts";
import { countOwnCommits, listRealObjects } from "./own-commits.ts";
import { findGitDirs, findGitPlace } from "./top-level.ts";

/** What git says about a tree; everything is null where there is no repository. */
export const treeIgnores: TreeIgnores = {
  async ignored(root) {
    const args = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
    const { code, stdout } = await runGit({ cwd: root, args });
    return code === 0 ? splitNul(stdout) : null;
  },
  async ignoredAmong(root, paths) {
    return findGitPlace(root) === null ? new Set() : listIgnoredPaths(root, paths);
  },
  outsideRoot(root) {
    const found = findGitDirs(root);
    if (found === null) return [];
    const isBelow = (place: string, folder: string) => place === folder || place.startsWith(`${folder}/`);
    const { own, common } = found;
    return (isBelow(own, common) ? [common] : [common, own]).filter((place) => !isBelow(place, root));
  },
  borrowed(root) {
    if (findGitDirs(root) === null) return [];
    return listRealObjects(root)
      .slice(1)
      .filter(isObjectFolder)
      .map((place) => realpathSync(place));
  },
  writeHiddenIndex,
  countCommits: countOwnCommits,
};

/** Whether git made all of it: the line that names it came with the repository, and could name anything. */
function isObjectFolder(place: string): boolean {
  if (statSync(place, { throwIfNoEntry: false })?.isDirectory() !== true) return false;
  const names = readdirSync(place);
  return names.length > 0 && names.every((name) => /^([0-9a-f]{2}|pack|info)$/.test(name));
}
