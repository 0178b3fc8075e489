import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { createTwoFilesPatch } from "diff";
import { sortedByCodePoint } from "../../src/core/canonical/index.ts";

/** Frozen texts by their path below the folder. */
export type FrozenFiles = ReadonlyMap<string, string>;

/** Every file below a folder; nothing where there is no folder. */
export function readFrozen(folder: string): FrozenFiles {
  const names = listFiles(folder);
  return new Map(names.map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}

function listFiles(folder: string): string[] {
  try {
    const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const paths = found.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1));
    return sortedByCodePoint(paths.map((path) => path.split(sep).join("/")));
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw thrown;
  }
}

/** Writes the files, and removes those of the same part that are no more. */
export function writeFrozen(folder: string, files: FrozenFiles, belongs: (path: string) => boolean): void {
  for (const path of listFiles(folder)) if (belongs(path) && !files.has(path)) rmSync(join(folder, path));
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** One text for every file that is missing, new or different; the lines that differ, with the lines around them. */
export function compareFrozen(frozen: FrozenFiles, now: FrozenFiles): string[] {
  const paths = sortedByCodePoint(new Set([...frozen.keys(), ...now.keys()]));
  return paths.flatMap((path) => {
    const [before, after] = [frozen.get(path), now.get(path)];
    if (before === after) return [];
    if (after === undefined) return [`${path}: is gone`];
    if (before === undefined) return [`${path}: is new`];
    const patch = createTwoFilesPatch(path, path, before, after, "frozen", "now", { context: 2 });
    return [`${path}: differs\n${patch.split("\n").slice(1).join("\n")}`];
  });
}
