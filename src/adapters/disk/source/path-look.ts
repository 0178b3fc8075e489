import { lstatSync, readdirSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { errnoCode } from "../../../core/errors/system.ts";
import { type PathLook, type PlaceKind, RUN_MARKERS } from "../../../rooms/catalytic/ports.ts";

const MAX_LINKS = 40;

/** Looks at the paths of a repository; the root must be a real path. */
export function createPathLook(root: string): PathLook {
  return {
    kind: (path) => kindOf(join(root, path)),
    realPlace(path) {
      const { place, exists } = follow(join(root, path));
      const inside = relative(root, place);
      const outside = inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside);
      return { inside: outside ? null : inside.split(sep).join("/"), exists };
    },
    runNames: (runsRoot) => listRunNames(join(root, runsRoot)),
  };
}

/** What is at a place, links not followed. */
export function kindOf(place: string): PlaceKind | null {
  const facts = lstatOrNull(place);
  if (facts === null) return null;
  if (facts.isFile()) return "file";
  if (facts.isDirectory()) return "dir";
  return facts.isSymbolicLink() ? "symlink" : "other";
}

/** The names of the folders that hold the record of a run. */
function listRunNames(folder: string): string[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (thrown) {
    if (errnoCode(thrown) === "ENOENT" || errnoCode(thrown) === "ENOTDIR") return [];
    throw thrown;
  }
  return names.filter((name) => RUN_MARKERS.some((marker) => lstatOrNull(join(folder, name, marker)) !== null));
}

/** Follows links as far as anything exists; what is missing stays as it is written. */
function follow(place: string): { readonly place: string; readonly exists: boolean } {
  let current = place;
  for (let links = 0; links <= MAX_LINKS; links++) {
    const real = realOrNull(current);
    if (real !== null) return { place: real, exists: true };
    const link = firstDanglingLink(current);
    if (link === null) return { place: nearestReal(current), exists: false };
    current = resolve(dirname(nearestReal(link.place)), link.target, link.rest);
  }
  // A loop leads nowhere; the file system's root is outside every repository.
  return { place: sep, exists: false };
}

/** The first component that is a link leading to nothing, its target, and what follows it. */
function firstDanglingLink(
  place: string,
): { readonly place: string; readonly target: string; readonly rest: string } | null {
  let rest = "";
  let found: { place: string; target: string; rest: string } | null = null;
  for (let at = place; at !== dirname(at); at = dirname(at)) {
    if (lstatOrNull(at)?.isSymbolicLink() === true && realOrNull(at) === null) {
      found = { place: at, target: readlinkSync(at), rest };
    }
    rest = join(at.slice(dirname(at).length + (dirname(at).endsWith(sep) ? 0 : 1)), rest);
  }
  return found;
}

function nearestReal(place: string): string {
  for (let at = dirname(place), rest = place.slice(dirname(place).length); ; at = dirname(at)) {
    const real = realOrNull(at);
    if (real !== null) return join(real, rest);
    rest = join(at.slice(dirname(at).length), rest);
  }
}

function realOrNull(place: string): string | null {
  try {
    return realpathSync(place);
  } catch (thrown) {
    if (["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG"].includes(errnoCode(thrown) ?? "")) return null;
    throw thrown;
  }
}

function lstatOrNull(place: string) {
  try {
    return lstatSync(place);
  } catch (thrown) {
    if (["ENOENT", "ENOTDIR", "ENAMETOOLONG", "ELOOP"].includes(errnoCode(thrown) ?? "")) return null;
    throw thrown;
  }
}
