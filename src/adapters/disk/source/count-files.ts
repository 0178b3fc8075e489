import { type Dirent, opendirSync } from "node:fs";
import { join } from "node:path";
import { errnoCode } from "../../../core/errors/system.ts";

/**
 * How many files and links lie below a folder that somebody is writing to, counted up to a limit; some names at its top are
 * left out. No link is followed, and only names are read.
 */
export function countFiles(folder: string, most: number, without: readonly string[]): number {
  const left = [folder];
  let count = 0;
  let seen = 0;
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    for (const entry of list(next, most - seen)) {
      if (next === folder && without.includes(entry.name)) continue;
      seen++;
      if (seen >= most) return count;
      if (entry.isDirectory()) left.push(join(next, entry.name));
      // What an overlay keeps for a file that was deleted.
      else count++;
    }
  }
  return count;
}

/** What is gone, or closed, by the time it is looked at has nothing in it. */
function list(folder: string, most: number): Dirent[] {
  const found: Dirent[] = [];
  try {
    const opened = opendirSync(folder);
    try {
      for (let entry = opened.readSync(); entry !== null && found.length < most; entry = opened.readSync()) {
        found.push(entry);
      }
    } finally {
      opened.closeSync();
    }
  } catch (thrown) {
    if (!["ENOENT", "EACCES", "ENOTDIR", "ENAMETOOLONG", "ELOOP"].includes(errnoCode(thrown) ?? "")) throw thrown;
  }
  return found;
}
