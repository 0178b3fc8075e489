import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { errnoCode } from "../../core/errors/system.ts";

const REFUSED = ["EACCES", "EPERM", "EROFS", "ENOENT", "ENOSPC", "EDQUOT"];

/**
 * Puts new bytes in the place of an existing file at once, readable by its owner only; a link to it stays a link. False where
 * the system does not let anybody write there.
 */
export function replacePrivately(place: string, bytes: Uint8Array): boolean {
  let temporary: string | null = null;
  try {
    const target = realpathSync(place);
    temporary = join(dirname(target), `.verbatim-${randomBytes(6).toString("hex")}`);
    const file = openSync(temporary, "wx", 0o600);
    try {
      writeFileSync(file, bytes);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, target);
    return true;
  } catch (thrown) {
    if (temporary !== null) rmSync(temporary, { force: true });
    if (REFUSED.includes(errnoCode(thrown) ?? "")) return false;
    throw thrown;
  }
}
