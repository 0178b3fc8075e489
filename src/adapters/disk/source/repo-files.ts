import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  unlinkSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { errnoCode } from "../../../core/errors/system.ts";
import type { RepoFiles } from "../../../rooms/workflow/ports.ts";
import { syncFolder, writeDurably } from "../durable/durable-write.ts";

const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** Plain files below a repository's root. A link on the way or at the end is never followed. */
export function createRepoFiles(root: string): RepoFiles {
  return {
    look: (path) => look(root, path),
    below: (folder) => listBelow(root, folder),
    put: (path, bytes, mode) => putFile(join(root, path), bytes, mode === "100755" ? 0o755 : 0o644),
    drop: (path) => drop(root, path),
  };
}

function look(root: string, path: string): ReturnType<RepoFiles["look"]> {
  if (crossesLink(root, path)) return "other";
  let file: number;
  try {
    file = openSync(join(root, path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (thrown) {
    const code = errnoCode(thrown);
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    if (code === "ELOOP" || code === "EMLINK" || code === "ENXIO") return "other";
    throw thrown;
  }
  try {
    const facts = fstatSync(file);
    if (facts.isDirectory()) return "folder";
    if (!facts.isFile()) return "other";
    return { bytes: readFileSync(file), mode: (facts.mode & 0o100) === 0 ? "100644" : "100755" };
  } finally {
    closeSync(file);
  }
}

/** git's mode is right before the file has its name; the rest, which the umask takes away, follows. */
function putFile(place: string, bytes: Uint8Array, mode: number): void {
  removeTorn(place);
  if (lstatSync(place, { throwIfNoEntry: false })?.isDirectory() === true) removeEmpty(place);
  writeDurably(place, bytes, mode);
  chmodSync(place, mode);
}

/** What a writer that was killed left next to the file. */
function removeTorn(place: string): void {
  const folder = dirname(place);
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  for (const name of readdirSync(folder)) {
    const match = /^\.tmp-[0-9]+-(.*)$/s.exec(name);
    if (match?.[1] === basename(place)) unlinkSync(join(folder, name));
  }
}

/** Folders without files; one that holds something stays, and so does what is in it. */
function removeEmpty(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) removeEmpty(join(folder, entry.name));
  }
  rmdirSync(folder);
}

/** Everything below a folder that is not a folder itself, by its path from the root. */
export function listBelow(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? listBelow(root, path) : [path];
  });
}

function crossesLink(root: string, path: string): boolean {
  const parts = path.split("/").slice(0, -1);
  for (const [i] of parts.entries()) {
    const facts = lstatSync(join(root, ...parts.slice(0, i + 1)), { throwIfNoEntry: false });
    if (facts?.isSymbolicLink() === true) return true;
    // Nothing is below a file.
    if (facts?.isDirectory() !== true) return false;
  }
  return false;
}

function drop(root: string, path: string): void {
  try {
    unlinkSync(join(root, path));
  } catch (thrown) {
    if (!isAbsent(thrown)) throw thrown;
  }
  for (let folder = dirname(join(root, path)); folder !== root; folder = dirname(folder)) {
    try {
      rmdirSync(folder);
    } catch (thrown) {
      const code = errnoCode(thrown);
      if (code === "ENOTEMPTY" || code === "EEXIST") {
        syncFolder(folder);
        return;
      }
      if (!isAbsent(thrown)) throw thrown;
    }
  }
}

function isAbsent(thrown: unknown): boolean {
  const code = errnoCode(thrown);
  return code === "ENOENT" || code === "ENOTDIR";
}
