import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { errnoCode, isAbsence } from "../../../core/errors/system.ts";

export interface FoundFiles {
  /** Regular files, by their paths below the root. */
  readonly files: readonly string[];
  /** Links, which may lead anywhere. */
  readonly links: readonly string[];
  /** Folders that could not be listed. Whoever owns them can open them again, and a copy of them as well. */
  readonly closed: readonly string[];
}

export interface FileQuestion {
  /** Names of folders that are not entered, at any depth. */
  readonly without: readonly string[];
  /** Whether a file or a folder may be meant, by its name alone. */
  isSuspect(name: string): boolean;
  isMeant(path: string): boolean;
}

/** Finds files of a tree by their names, in the order of the tree. Links are not followed. */
export function findFiles(root: string, { without, isSuspect, isMeant }: FileQuestion): FoundFiles {
  const [files, links, closed]: [string[], string[], string[]] = [[], [], []];
  const skipped = new Set(without);
  const walk = (folder: string, all: boolean) => {
    const entries = list(folder === "" ? root : `${root}/${folder}`);
    if (entries === null) closed.push(folder);
    for (const entry of entries ?? []) {
      const { name } = entry;
      const path = folder === "" ? name : `${folder}/${name}`;
      const suspect = all || isSuspect(name);
      if (entry.isDirectory()) {
        // Where the name of a folder is meant, so may be everything in it.
        if (!skipped.has(name)) walk(path, suspect);
      } else if (suspect && isMeant(path)) {
        if (entry.isFile()) files.push(path);
        else if (entry.isSymbolicLink()) links.push(path);
      }
    }
  };
  walk("", false);
  return { files, links, closed };
}

/** Every name in a tree of some files with more than one, wherever they are: their contents can be read by it as well. */
export function findOtherNames(root: string, places: readonly string[], without: readonly string[]): string[] {
  const linked = new Set<string>();
  const nodeOf = (place: string): string | null => {
    const facts = lstatSync(place, { throwIfNoEntry: false });
    return facts?.isFile() === true && facts.nlink > 1 ? `${facts.dev}:${facts.ino}` : null;
  };
  for (const place of places) {
    const node = nodeOf(place);
    if (node !== null) linked.add(node);
  }
  if (linked.size === 0) return [];
  const isMeant = (path: string) => linked.has(nodeOf(`${root}/${path}`) ?? "");
  const known = new Set(places);
  const { files } = findFiles(root, { without, isSuspect: () => true, isMeant });
  return files.filter((path) => !known.has(`${root}/${path}`));
}

/** Null where it may not be listed; nothing where it is gone. */
function list(place: string): Dirent[] | null {
  try {
    return readdirSync(place, { withFileTypes: true });
  } catch (thrown) {
    if (isAbsence(thrown)) return [];
    if (errnoCode(thrown) === "EACCES") return null;
    throw thrown;
  }
}
