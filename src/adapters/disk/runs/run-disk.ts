import { createHash, randomBytes } from "node:crypto";
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmdirSync,
  statfsSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { decodeUtf8 } from "../../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { errnoCode, toDiskError } from "../../../core/errors/system.ts";
import type { PlaceFacts, RunDisk } from "../../../rooms/catalytic/ports.ts";
import { findExecutable } from "../../guards/tools.ts";
import { runTool } from "../../process/tool.ts";
import { readGuarded, readGuardedChunks, withGuardedFile } from "../guarded/guarded-file.ts";
import { PRIVATE_FILE, PRIVATE_FOLDER } from "../guarded/private-modes.ts";
import { createPathLook, kindOf } from "../source/path-look.ts";
import { findShown, scanFingerprints, unpackFingerprint } from "../stat/fingerprints.ts";
import { readLayerMarks } from "../stat/layer-marks.ts";
import { fileSystemOf, listMounts } from "../stat/mounts.ts";
import { isStatTrusted } from "../stat/stat-trust.ts";
import { beginSnapshot } from "../tree/shared-snapshot.ts";
import { snapshotPlace } from "../tree/tree-snapshot.ts";

const CHUNK = 1024 * 1024;
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
const MOST_SMALL = 200;
/** The largest buffer Node makes of a file. */
const LARGEST = 2 ** 31 - 1;

/** The file system as catalytic runs use it. */
const plainDisk: RunDisk = {
  look: createPathLook,
  layerMarks: readLayerMarks,
  stat,
  list: (place) => orNull(() => readdirSync(place)),
  read(place) {
    const bytes = readGuarded(place, LARGEST);
    // What is there and may not be read is not the same as nothing.
    if (bytes === null) orNull(() => accessSync(place, constants.R_OK));
    return bytes;
  },
  readChunks: readGuardedChunks,
  createFolder(place, mode) {
    try {
      mkdirSync(place, { mode });
      return true;
    } catch (thrown) {
      if (errnoCode(thrown) === "EEXIST") return false;
      throw thrown;
    }
  },
  makeFolders: (place) => void mkdirSync(place, { recursive: true, mode: PRIVATE_FOLDER }),
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
    const fd = openSync(place, APPEND, PRIVATE_FILE);
    try {
      for (const bytes of parts) writeAll(fd, bytes);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  },
  async appendMuch(place, parts) {
    const file = await open(place, APPEND, PRIVATE_FILE);
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
  isStatTrusted,
  freeBytes(place) {
    const { bavail, bsize } = statfsSync(place);
    return bavail * bsize;
  },
  hashFile: (place) => orUnreadable(() => hashFile(place)),
  hashProgram: (place) => orUnreadable(() => hashFile(realpathSync.native(place))),
  findExecutable,
  snapshot: snapshotPlace,
  beginSnapshot,
  scan: scanFingerprints,
  unpack: unpackFingerprint,
  // Node's copyFile fills holes and drops nanoseconds, owners and extended attributes.
  async copy(from, to) {
    try {
      await runTool("cp", ["-a", "--reflink=auto", "-T", "--", from, to]);
    } catch (thrown) {
      if (isFull(dirname(to))) throw new VerbatimError("DISK_FULL", { where: to, cause: thrown });
      throw thrown;
    }
  },
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

/** The same, with a full disk told by its own code wherever something is written, and a place that may not be written where one is made. */
export const runDisk: RunDisk = {
  ...plainDisk,
  createFolder: (place, mode) => orTold(place, () => plainDisk.createFolder(place, mode)),
  makeFolders: (place) => orTold(place, () => plainDisk.makeFolders(place)),
  replaceFile: (place, bytes, durable) => orFull(place, () => plainDisk.replaceFile(place, bytes, durable)),
  createFile: (place, bytes) => orFull(place, () => plainDisk.createFile(place, bytes)),
  append: (place, parts) => orFull(place, () => plainDisk.append(place, parts)),
  appendMuch: (place, parts) =>
    plainDisk.appendMuch(place, parts).catch((thrown: unknown) => {
      throw toFull(thrown, place);
    }),
  rename: (from, to) => orFull(to, () => plainDisk.rename(from, to)),
  link: (target, place) => orFull(place, () => plainDisk.link(target, place)),
};

function orTold<T>(place: string, act: () => T): T {
  try {
    return act();
  } catch (thrown) {
    throw toDiskError(thrown, place);
  }
}

function orFull<T>(place: string, act: () => T): T {
  try {
    return act();
  } catch (thrown) {
    throw toFull(thrown, place);
  }
}

/** Only a full disk: callers tell the other errors apart by the system's own codes. */
function toFull(thrown: unknown, place: string): unknown {
  return ["ENOSPC", "EDQUOT"].includes(errnoCode(thrown) ?? "") ? toDiskError(thrown, place) : thrown;
}

/** Whether so little is left that a tool which failed will have failed for that. */
function isFull(folder: string): boolean {
  const facts = orNull(() => statfsSync(folder));
  return facts !== null && facts.bavail * facts.bsize < CHUNK;
}

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
  else await plainDisk.discard(text);
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
  const fd = openSync(place, "wx", PRIVATE_FILE);
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

function hashFile(place: string): string | null {
  return withGuardedFile(place, ({ read }) => {
    const running = createHash("sha256");
    for (let at = 0, bytes = read(at, CHUNK); bytes.length > 0; at += bytes.length, bytes = read(at, CHUNK)) {
      running.update(bytes);
    }
    return running.digest("hex");
  });
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
