import { chmodSync, closeSync, lstatSync, openSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { errnoCode } from "../../../core/errors/system.ts";

/** What the tool keeps for itself is for its owner only, whatever the umask: it holds arguments, goals and output. */
export const PRIVATE_FILE = 0o600;
export const PRIVATE_FOLDER = 0o700;

const OTHERS = 0o077;
const OWNERS = 0o7700;
/** What a file system or an owner says that does not let us change a mode. */
const REFUSED = ["EPERM", "EACCES", "EROFS", "ENOENT", "ENOTSUP", "EOPNOTSUPP"];

/** Whether others have any right to a place. Links have no mode of their own. */
export function isWide(place: string): boolean {
  // Windows has no such modes: what Node shows there says nothing about who may read.
  if (process.platform === "win32") return false;
  const facts = lstatSync(place, { throwIfNoEntry: false });
  return facts !== undefined && !facts.isSymbolicLink() && (facts.mode & OTHERS) !== 0;
}

/**
 * Takes the rights of others away from everything below a folder. Folders that hold things whose modes count are closed
 * and not entered.
 */
export function narrowBelow(folder: string, isClosed: (place: string) => boolean): void {
  for (const entry of listFolder(folder)) {
    const place = join(folder, entry.name);
    if (entry.isDirectory() && !isClosed(place)) narrowBelow(place, isClosed);
    if (entry.isDirectory() || entry.isFile()) narrow(place);
  }
}

/** What is in a folder; nothing where it is gone meanwhile or belongs to someone who does not let us in. */
function listFolder(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (thrown) {
    if (REFUSED.includes(errnoCode(thrown) ?? "")) return [];
    throw thrown;
  }
}

/** Takes the rights of others away from one place. What belongs to someone else stays as it is; doctor tells. */
export function narrow(place: string): void {
  if (!isWide(place)) return;
  try {
    chmodSync(place, lstatSync(place).mode & OWNERS);
  } catch (thrown) {
    if (!REFUSED.includes(errnoCode(thrown) ?? "")) throw thrown;
  }
}

/**
 * Makes an empty private file where there is none. One that exists is only narrowed and never opened: closing it would
 * let go of the locks that this process has on it.
 */
export function makePrivateFile(place: string): void {
  try {
    closeSync(openSync(place, "wx", PRIVATE_FILE));
  } catch (thrown) {
    if (errnoCode(thrown) !== "EEXIST") throw thrown;
    narrow(place);
  }
}
