import { closeSync, constants, fstatSync, openSync, readdirSync, readSync } from "node:fs";
import { errnoCode } from "../../../core/errors/system.ts";

const FOLDER = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);
const FILE = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);
const CHUNK = 1024 * 1024;
const ABSENT = ["ENOENT", "ENOTDIR", "ELOOP", "ENXIO", "EACCES", "EPERM", "ENAMETOOLONG", "ENODEV", "ESTALE"];

/** A regular file below a folder, as it was when somebody looked. */
export interface FoundFile {
  readonly path: string;
  readonly size: number;
  readonly changed_ms: number;
}

/**
 * Regular files below a folder in which a command may be at work right now, at most so many names of any kind. No link is
 * followed; what goes away meanwhile is left out. `isMeant` is asked for files and for folders, which it may leave out.
 */
export function listWhileWritten(
  base: string,
  most: number,
  isMeant: (path: string, kind: "file" | "folder") => boolean,
): FoundFile[] {
  const found: FoundFile[] = [];
  let left = most;
  const walk = (fd: number, above: string) => {
    for (const entry of readdirSync(`/proc/self/fd/${fd}`, { withFileTypes: true })) {
      if (left-- <= 0) return;
      const path = above === "" ? entry.name : `${above}/${entry.name}`;
      const kind = entry.isDirectory() ? "folder" : entry.isFile() ? "file" : null;
      if (kind === null || !isMeant(path, kind)) continue;
      within(`/proc/self/fd/${fd}/${entry.name}`, kind === "folder" ? FOLDER : FILE, (inner) => {
        const facts = fstatSync(inner);
        if (kind === "folder") walk(inner, path);
        else if (facts.isFile()) found.push({ path, size: facts.size, changed_ms: facts.mtimeMs });
      });
    }
  };
  within(base, FOLDER, (fd) => walk(fd, ""));
  return found;
}

function within(place: string, how: number, use: (fd: number) => void): void {
  let fd: number | null = null;
  try {
    fd = openSync(place, how);
    use(fd);
  } catch (thrown) {
    if (!ABSENT.includes(errnoCode(thrown) ?? "")) throw thrown;
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

/**
 * A small regular file below a folder in which a command is at work right now; null when there is none or it is larger.
 * Each folder is opened from the one before and no link is followed, so a command that swaps a folder for a link
 * meanwhile leads this nowhere.
 */
export function readWhileWritten(base: string, path: string, most: number): Buffer | null {
  const bytes = readStartWhileWritten(base, path, most + 1);
  return bytes === null || bytes.length > most ? null : bytes;
}

/** The same for the first bytes of a file of any size. */
export function readStartWhileWritten(base: string, path: string, most: number): Buffer | null {
  const names = path.split("/");
  const open: number[] = [];
  try {
    open.push(openSync(base, FOLDER));
    for (const name of names.slice(0, -1)) open.push(openSync(`/proc/self/fd/${open.at(-1)!}/${name}`, FOLDER));
    const file = openSync(`/proc/self/fd/${open.at(-1)!}/${names.at(-1)!}`, FILE);
    open.push(file);
    return fstatSync(file).isFile() ? readAtMost(file, most) : null;
  } catch (thrown) {
    if (ABSENT.includes(errnoCode(thrown) ?? "")) return null;
    throw thrown;
  } finally {
    for (const fd of open) closeSync(fd);
  }
}

function readAtMost(file: number, most: number): Buffer {
  const parts: Buffer[] = [];
  for (let done = 0; done < most; ) {
    const bytes = Buffer.allocUnsafe(Math.min(CHUNK, most - done));
    const got = readSync(file, bytes, 0, bytes.length, done);
    if (got === 0) break;
    parts.push(bytes.subarray(0, got));
    done += got;
  }
  return Buffer.concat(parts);
}
