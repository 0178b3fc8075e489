import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { errnoCode } from "../../core/errors/system.ts";

const FOLDER = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);
const FILE = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);
const ABSENT = ["ENOENT", "ENOTDIR", "ELOOP", "ENXIO", "EACCES", "EPERM", "ENAMETOOLONG", "ENODEV", "ESTALE"];

/**
 * A small regular file below a folder in which a command is at work right now; null when there is none or it is larger.
 * Each folder is opened from the one before and no link is followed, so a command that swaps a folder for a link
 * meanwhile leads this nowhere.
 */
export function readWhileWritten(base: string, path: string, most: number): Buffer | null {
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

/** Everything, or null where there is a byte more than that. */
function readAtMost(file: number, most: number): Buffer | null {
  const bytes = Buffer.allocUnsafe(most + 1);
  let done = 0;
  while (done < bytes.length) {
    const got = readSync(file, bytes, done, bytes.length - done, done);
    if (got === 0) return Buffer.from(bytes.subarray(0, done));
    done += got;
  }
  return null;
}
