import { createHash, randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmdirSync,
  statfsSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { decodeUtf8 } from "../../core/canonical/index.ts";
import { isVerbatimError } from "../../core/errors/index.ts";
import type { PlaceFacts, RunDisk } from "../../rooms/catalytic/ports.ts";
import { findExecutable } from "../guards/tools.ts";
import { runTool } from "../process/tool.ts";
import { errnoCode } from "./errors.ts";
import { findShown, scanFingerprints, unpackFingerprint } from "./fingerprints.ts";
import { fileSystemOf, listMounts } from "./mounts.ts";
import { createPathLook, kindOf } from "./path-look.ts";
import { beginSnapshot } from "./shared-snapshot.ts";
import { snapshotPlace } from "./tree-snapshot.ts";

const CHUNK = 1024 * 1024;
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
const MOST_SMALL = 200;

/** The file system as catalytic runs use it. */
export const runDisk: RunDisk = {
  look: createPathLook,
  stat,
  list: (place) => orNull(() => readdirSync(place)),
  read: (place) => orNull(() => readFileSync(place)),
  createFolder(place, mode) {
    try {
      mkdirSync(place, { mode });
      return true;
    } catch (thrown) {
      if (errnoCode(thrown) === "EEXIST") return false;
      throw thrown;
    }
  },
  makeFolders: (place) => void mkdirSync(place, { recursive: true }),
  replaceFile(place, bytes, durable) {
    const temporary = join(dirname(place), `.tmp-${basename(place)}-${randomBytes(4).toString("hex")}`);
    writeNew(temporary, bytes, durable !== "no");
    renameSync(temporary, place);
    if (durable === "folder") syncFolder(dirname(place));
  },
  createFile(place, bytes) {
    try {
      writeNew(place, bytes);
    } catch (thrown) {
      if (errnoCode(thrown) === "EEXIST") return false;
      throw thrown;
    }
    syncFolder(dirname(place));
    return true;
  },
  append(place, parts) {
    const fd = openSync(place, APPEND, 0o644);
    try {
      for (const bytes of parts) writeAll(fd, bytes);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  },
  async appendMuch(place, parts) {
    const file = await open(place, APPEND, 0o644);
    try {
      for (const bytes of parts) await file.appendFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
  },
  rename: renameSync,
  removeFile: (place) => void orNull(() => unlinkSync(place)),
  removeEmptyFolder(place) {
    try {
      rmdirSync(place);
      return true;
    } catch (thrown) {
      if (["ENOTEMPTY", "EEXIST", "ENOENT", "ENOTDIR", "EBUSY"].includes(errnoCode(thrown) ?? "")) return false;
      throw thrown;
    }
  },
  setMode: chmodSync,
  syncFolder,
  isMountPoint: (place) => listMounts().includes(place),
  fileSystem: fileSystemOf,
  freeBytes(place) {
    const { bavail, bsize } = statfsSync(place);
    return bavail * bsize;
  },
  hashFile: (place) => orUnreadable(() => hashFile(place)),
  findExecutable,
  snapshot: snapshotPlace,
  beginSnapshot,
  scan: scanFingerprints,
  unpack: unpackFingerprint,
  // Node's copyFile fills holes and drops nanoseconds, owners and extended attributes.
  copy: (from, to) => runTool("cp", ["-a", "--reflink=auto", "-T", "--", from, to]),
  discardShown,
  link: (target, place) => symlinkSync(target, place),
  async discard(place) {
    if (lstatSync(place, { throwIfNoEntry: false }) === undefined) return;
    // Starting a tool takes longer than removing the little that most runs leave.
    if (removeSmall(place)) return;
    try {
      await runTool("rm", ["-rf", "--", place]);
    } catch (thrown) {
      if (!isVerbatimError(thrown)) throw thrown;
      // Folders the command closed, and the work folder of an overlay, refuse to be emptied.
      await runTool("chmod", ["-R", "u+rwX", "--", place]);
      await runTool("rm", ["-rf", "--", place]);
    }
  },
};

/** Removes a place that holds little; false, with something left, where there is more or something refuses. */
function removeSmall(place: string): boolean {
  const left = { entries: MOST_SMALL };
  try {
    return removeTree(place, left);
  } catch (thrown) {
    if (errnoCode(thrown) !== null) return false;
    throw thrown;
  }
}

function removeTree(place: string, left: { entries: number }): boolean {
  if (left.entries-- <= 0) return false;
  if (!lstatSync(place).isDirectory()) unlinkSync(place);
  else {
    const names = readdirSync(place);
    // A name that is not UTF-8 cannot be reached by the text that stands for it.
    if (names.some((name) => name.includes("\ufffd"))) return false;
    for (const name of names) if (!removeTree(join(place, name), left)) return false;
    rmdirSync(place);
  }
  return true;
}

async function discardShown(base: string, shown: string): Promise<void> {
  const place = findShown(base, shown);
  if (place === null) return;
  const text = decodeUtf8(place);
  if (text === null) rmBytes(place);
  else await runDisk.discard(text);
}

/** Removes by byte path; only for what the command left, which may be a whole folder. */
function rmBytes(place: Buffer): void {
  if (!lstatSync(place).isDirectory()) unlinkSync(place);
  else {
    chmodSync(place, 0o700);
    for (const name of readdirSync(place, { encoding: "buffer" }))
      rmBytes(Buffer.concat([place, Buffer.from("/"), name]));
    rmdirSync(place);
  }
}

function stat(place: string): PlaceFacts | null {
  const facts = orNull(() => lstatSync(place, { bigint: true }));
  if (facts === null) return null;
  return {
    kind: kindOf(place) ?? "other",
    dev: String(facts.dev),
    ino: String(facts.ino),
    uid: Number(facts.uid),
    gid: Number(facts.gid),
    mode: Number(facts.mode & 0o7777n),
    size: Number(facts.size),
  };
}

function writeNew(place: string, bytes: Uint8Array, durable = true): void {
  const fd = openSync(place, "wx", 0o644);
  try {
    writeAll(fd, bytes);
    if (durable) fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
}

function syncFolder(place: string): void {
  if (process.platform === "win32") return;
  const fd = openSync(place, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function hashFile(place: string): string {
  const fd = openSync(place, "r");
  try {
    const buffer = Buffer.allocUnsafe(CHUNK);
    const running = createHash("sha256");
    for (let count = readSync(fd, buffer, 0, CHUNK, null); count > 0; count = readSync(fd, buffer, 0, CHUNK, null)) {
      running.update(buffer.subarray(0, count));
    }
    return running.digest("hex");
  } finally {
    closeSync(fd);
  }
}

function orUnreadable<T>(read: () => T): T | null {
  try {
    return orNull(read);
  } catch (thrown) {
    if (errnoCode(thrown) === "EACCES") return null;
    throw thrown;
  }
}

function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch (thrown) {
    if (["ENOENT", "ENOTDIR", "ENAMETOOLONG"].includes(errnoCode(thrown) ?? "")) return null;
    throw thrown;
  }
}
