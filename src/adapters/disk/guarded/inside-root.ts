import { lstatSync, realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { VerbatimError } from "../../../core/errors/index.ts";
import { type RepoPath, showPath } from "../../../core/paths/index.ts";

/**
 * The real place of a repository path below a real root, never outside it. Links inside the root are followed,
 * links that lead out are refused. For a file that is not there yet the nearest existing ancestor decides.
 * Cost: one realpath per missing component.
 */
export function resolveInside(root: string, path: RepoPath): string {
  const realRoot = realpathSync(root);
  let existing = join(realRoot, path);
  let missing = "";
  for (;;) {
    const real = toRealPath(existing, path);
    if (real !== null) {
      if (real !== realRoot && !real.startsWith(realRoot.endsWith(sep) ? realRoot : realRoot + sep)) {
        throw refuse(path, "PATH_LINK_OUTSIDE", "leads outside the repository through a link");
      }
      return missing === "" ? real : join(real, missing);
    }
    missing =
      missing === ""
        ? existing.slice(dirname(existing).length + 1)
        : join(existing.slice(dirname(existing).length + 1), missing);
    existing = dirname(existing);
  }
}

/** The real path, or null when nothing of that name exists. A link to nothing is refused: it may point anywhere. */
function toRealPath(place: string, path: RepoPath): string | null {
  try {
    return realpathSync(place);
  } catch (thrown) {
    switch ((thrown as NodeJS.ErrnoException).code) {
      case "ENOENT":
        if (lstatSync(place, { throwIfNoEntry: false }) === undefined) return null;
        throw refuse(path, "PATH_LINK_DANGLING", "goes through a link to something that does not exist");
      case "ENOTDIR":
        throw refuse(path, "PATH_NOT_A_DIRECTORY", "goes through something that is not a folder");
      case "ELOOP":
        throw refuse(path, "PATH_LINK_LOOP", "goes through links that form a loop");
      default:
        throw thrown;
    }
  }
}

function refuse(path: string, reason: string, why: string): VerbatimError {
  return new VerbatimError("PATH_REFUSED", { message: `the path ${showPath(path)} ${why}`, details: { path, reason } });
}
