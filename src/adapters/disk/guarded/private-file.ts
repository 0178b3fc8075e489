import { randomBytes } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { errnoCode } from "../../../core/errors/system.ts";

const REFUSED = ["EACCES", "EPERM", "EROFS", "ENOENT", "ENOSPC", "EDQUOT", "EEXIST", "ENOTDIR", "ELOOP"];

/**
 * Puts new bytes in the place of an existing file at once, readable by its owner only; a link to it stays a link. False where
 * the system does not let anybody write there.
 */
export function replacePrivately(place: string, bytes: Uint8Array): boolean {
  return writeBeside(() => realpathSync(place), bytes, renameSync);
}

/** Makes a file that is not there, readable by its owner only, and the folders above it. False where one is there. */
export function createPrivately(place: string, bytes: Uint8Array): boolean {
  const make = () => {
    mkdirSync(dirname(place), { recursive: true, mode: 0o700 });
    return place;
  };
  return writeBeside(make, bytes, (temporary, target) => {
    // A link is made only where nothing is: what was written there meanwhile stays.
    linkSync(temporary, target);
    rmSync(temporary);
  });
}

function writeBeside(find: () => string, bytes: Uint8Array, move: (from: string, to: string) => void): boolean {
  let temporary: string | null = null;
  try {
    const target = find();
    temporary = join(dirname(target), `.verbatim-${randomBytes(6).toString("hex")}`);
    const file = openSync(temporary, "wx", 0o600);
    try {
      writeFileSync(file, bytes);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    move(temporary, target);
    return true;
  } catch (thrown) {
    if (temporary !== null) rmSync(temporary, { force: true });
    if (REFUSED.includes(errnoCode(thrown) ?? "")) return false;
    throw thrown;
  }
}
