import { dropStream, foldName, isGitName } from "../../../core/paths/index.ts";

/** Whether some file system takes a name for the folder of git or for ours. */
export function isForbiddenName(name: string): boolean {
  return isGitName(name) || /^(?:\.verbatim|verbat~[0-9]+)$/.test(foldName(dropStream(name)));
}
