import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { sortedByCodePoint } from "../../core/canonical/index.ts";
import { errnoCode } from "../../core/errors/system.ts";

/** A git repository as its files show it. No program is run and no variable of the environment is asked. */
interface GitPlace {
  /** The top folder of the work tree, or the repository itself when it is bare. */
  readonly top: string;
  readonly isBare: boolean;
}

/**
 * The repository around a folder, found the way git finds it, or null. A bare one counts only where no work tree is
 * around: files that look like one inside a work tree move nothing.
 */
export function findGitPlace(from: string): GitPlace | null {
  for (let folder = from; ; folder = dirname(folder)) {
    if (hasRepository(folder)) return { top: folder, isBare: false };
    if (folder === dirname(folder)) break;
  }
  for (let folder = from; folder !== dirname(folder); folder = dirname(folder)) {
    if (basename(folder) !== ".git" && isGitFolder(folder)) return { top: folder, isBare: true };
  }
  return null;
}

/** git stops at a file of that name whatever it says, and passes by a folder that is not a repository. */
function hasRepository(folder: string): boolean {
  const place = join(folder, ".git");
  const facts = look(place);
  if (facts === null) return false;
  if (facts === "unreadable" || facts.isFile()) return true;
  return facts.isDirectory() && isGitFolder(place);
}

/** What git asks of a repository: a HEAD, objects and references, its own or those of the main work tree. */
function isGitFolder(folder: string): boolean {
  if (!isThere(join(folder, "HEAD"))) return false;
  const common = readLine(join(folder, "commondir"));
  const shared = common === null ? folder : resolve(folder, common);
  return isThere(join(shared, "objects")) && isThere(join(shared, "refs"));
}

/** The folder that all work trees of a repository share, or null where its files do not say. */
export function findCommonDir(top: string): string | null {
  return findGitDirs(top)?.common ?? null;
}

/** Where a work tree keeps its own part of the repository and the shared one, or null where its files do not say. */
export function findGitDirs(top: string): { readonly own: string; readonly common: string } | null {
  try {
    const place = join(top, ".git");
    const named = readLine(place);
    if (named !== null && !named.startsWith("gitdir: ")) return null;
    const own = realpathSync(named === null ? place : resolve(top, named.slice("gitdir: ".length)));
    return { own, common: realpathSync(resolve(own, readLine(join(own, "commondir")) ?? ".")) };
  } catch (thrown) {
    if (isNothing(thrown) || isForbidden(thrown)) return null;
    throw thrown;
  }
}

/** The top folders of all work trees that share a git folder, the main one first. */
export function listWorkTrees(common: string): string[] {
  const main = basename(common) === ".git" ? [dirname(common)] : [];
  const folder = join(common, "worktrees");
  // What is left of a work tree that is gone names a place that is not there.
  const linked = listNames(folder).flatMap((name) => {
    const place = readLine(join(folder, name, "gitdir"));
    return place === null ? [] : [dirname(resolve(folder, name, place))];
  });
  return [...main, ...linked].filter(isThere);
}

function listNames(folder: string): string[] {
  try {
    return sortedByCodePoint(readdirSync(folder));
  } catch (thrown) {
    if (isNothing(thrown) || isForbidden(thrown)) return [];
    throw thrown;
  }
}

// A link as HEAD may lead nowhere yet, so the name alone counts. What may not be looked at counts as there.
function isThere(place: string): boolean {
  try {
    return lstatSync(place, { throwIfNoEntry: false }) !== undefined;
  } catch (thrown) {
    if (isNothing(thrown)) return false;
    if (isForbidden(thrown)) return true;
    throw thrown;
  }
}

function look(place: string) {
  try {
    return statSync(place, { throwIfNoEntry: false }) ?? null;
  } catch (thrown) {
    if (isNothing(thrown)) return null;
    if (isForbidden(thrown)) return "unreadable";
    throw thrown;
  }
}

const MOST_BYTES = 8192;

/** The text of a small regular file without its line feed, or null. A pipe in its place is not waited for. */
function readLine(place: string): string | null {
  let file: number;
  try {
    file = openSync(place, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (thrown) {
    if (isNothing(thrown) || isForbidden(thrown)) return null;
    throw thrown;
  }
  try {
    if (!fstatSync(file).isFile()) return null;
    const bytes = Buffer.alloc(MOST_BYTES);
    return bytes.toString("utf8", 0, readSync(file, bytes, 0, MOST_BYTES, 0)).replace(/[\r\n]+$/, "");
  } finally {
    closeSync(file);
  }
}

function isNothing(thrown: unknown): boolean {
  return ["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG", "ENXIO", "EISDIR"].includes(errnoCode(thrown) ?? "");
}

function isForbidden(thrown: unknown): boolean {
  return errnoCode(thrown) === "EACCES" || errnoCode(thrown) === "EPERM";
}
