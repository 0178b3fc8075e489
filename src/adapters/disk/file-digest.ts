import { createHash, hash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { errnoCode } from "../../core/errors/system.ts";

const CHUNK = 1024 * 1024;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const buffer = Buffer.allocUnsafe(CHUNK);

interface FileDigest {
  readonly digest: Uint8Array;
  readonly size: bigint;
  readonly mtime: bigint;
  readonly ctime: bigint;
}

/**
 * SHA-256 of one regular file with the stat it had before and after it was read. Null when it is something else by now,
 * changed meanwhile, or may not be read. One open, one buffer for all.
 */
export function digestFile(place: string): FileDigest | null {
  let fd: number;
  try {
    fd = openSync(place, READ);
  } catch (thrown) {
    if (["EACCES", "ENOENT", "ENOTDIR", "ELOOP", "ENXIO"].includes(errnoCode(thrown) ?? "")) return null;
    throw thrown;
  }
  try {
    const before = fstatSync(fd, { bigint: true });
    if (!before.isFile()) return null;
    const { digest, total } = digestOpen(fd);
    const after = fstatSync(fd, { bigint: true });
    const { size, mtimeNs: mtime, ctimeNs: ctime } = after;
    const isSame = BigInt(total) === size && before.mtimeNs === mtime && before.ctimeNs === ctime;
    return isSame ? { digest, size, mtime, ctime } : null;
  } finally {
    closeSync(fd);
  }
}

function digestOpen(fd: number): { readonly digest: Uint8Array; readonly total: number } {
  let got = readSync(fd, buffer, 0, CHUNK, null);
  if (got < CHUNK) {
    // The next reading says whether that was all.
    const more = readSync(fd, buffer, got, CHUNK - got, null);
    if (more === 0) return { digest: hash("sha256", buffer.subarray(0, got), "buffer"), total: got };
    got += more;
  }
  const running = createHash("sha256");
  let total = 0;
  for (; got > 0; got = readSync(fd, buffer, 0, CHUNK, null)) {
    running.update(buffer.subarray(0, got));
    total += got;
  }
  return { digest: running.digest(), total };
}
