import {
  type BigIntStats,
  chmodSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { VerbatimError } from "../../../core/errors/index.ts";
import { errnoCode, toDiskError } from "../../../core/errors/system.ts";
import { isGitName, parseRepoPath, showPath } from "../../../core/paths/index.ts";
import type { FileToPut, LandingFiles, TreeEntry } from "../../../rooms/workflow/ports.ts";

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_DIRECTORY = 0, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
const FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
const ABSENT = ["ENOENT"];
const BLOCKED = ["ENOTDIR", "ELOOP", "EMLINK"];

/** The working tree below a real root. Folders are opened one by one without following links, where the system lets us. */
export function createLandingFiles(root: string): LandingFiles {
  const at = <T>(path: string, work: (place: string, folder: string) => T): T => {
    const cut = requireOrdinary(path).lastIndexOf("/");
    return withFolder(root, path.slice(0, Math.max(cut, 0)), (folder) =>
      work(`${folder}/${path.slice(cut + 1)}`, folder),
    );
  };
  return {
    look: (path) => look(at, path),
    names: (folder) => listNames(root, folder),
    below: (folder) => listBelow(root, at, folder),
    folderPermissions(path) {
      const facts = orAbsent(() => at(path, (place) => lstatSync(place)));
      return facts?.isDirectory() === true ? facts.mode & 0o7777 : null;
    },
    makeFolder(path, permissions) {
      guarded(path, () =>
        at(path, (place, folder) => {
          if (lstatSync(place, { throwIfNoEntry: false })?.isDirectory() === true) return;
          mkdirSync(place);
          if (permissions !== null) chmodSync(place, permissions);
          ownLike(folder, (uid, gid) => chownSync(place, uid, gid));
        }),
      );
    },
    removeFolder(path) {
      try {
        at(path, (place) => rmdirSync(place));
      } catch (thrown) {
        if (!["ENOTEMPTY", "EEXIST", ...ABSENT, ...BLOCKED].includes(errnoCode(thrown) ?? "")) throw thrown;
      }
    },
    stage: (path, temporary, file) => guarded(path, () => at(path, (_, folder) => stage(folder, temporary, file))),
    place: (path, temporary, stamp) =>
      guarded(path, () => at(path, (place, folder) => give(place, `${folder}/${temporary}`, stamp))),
    drop: (path, stamp) =>
      at(path, (place) => {
        if (stampAt(place) !== stamp) return false;
        unlinkSync(place);
        return true;
      }),
    discard(path, temporary) {
      orAbsent(() => at(path, (_, folder) => unlinkSync(`${folder}/${temporary}`)));
    },
    sync(folders) {
      for (const folder of folders) orAbsent(() => withFolder(root, folder, syncFolder));
    },
  };
}

/** Whatever a record says: nothing leads out of the tree, and nothing into the folder of git. PATH_REFUSED. */
function requireOrdinary(path: string): string {
  const parsed = parseRepoPath(path);
  if (!parsed.split("/").some(isGitName)) return parsed;
  throw new VerbatimError("PATH_REFUSED", { message: `the path ${showPath(path)} leads into the folder of git` });
}

type At = <T>(path: string, work: (place: string, folder: string) => T) => T;

/** A full disk or a folder that cannot be written has a code of its own. */
function guarded<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (thrown) {
    throw toDiskError(thrown, path);
  }
}

function orAbsent<T>(act: () => T): T | null {
  try {
    return act();
  } catch (thrown) {
    if ([...ABSENT, ...BLOCKED].includes(errnoCode(thrown) ?? "")) return null;
    throw thrown;
  }
}

const OWN_FILES = "/proc/self/fd";
let byHandle: boolean | undefined;

/**
 * Calls `work` with a name for a folder that is held open, so that nobody can put a link in its place meanwhile. Where
 * the system has no such names the folders on the way are looked at one after the other.
 */
function withFolder<T>(root: string, path: string, work: (folder: string) => T): T {
  byHandle ??= process.platform === "linux" && existsSync(OWN_FILES);
  const parts = path === "" ? [] : requireOrdinary(path).split("/");
  if (!byHandle) {
    let place = root;
    for (const part of parts) {
      place = join(place, part);
      if (!lstatSync(place).isDirectory()) throw Object.assign(new Error(place), { code: "ENOTDIR" });
    }
    return work(place);
  }
  let handle = openSync(root, O_RDONLY | O_DIRECTORY);
  try {
    for (const part of parts) {
      const next = openSync(`${OWN_FILES}/${handle}/${part}`, FOLDER);
      closeSync(handle);
      handle = next;
    }
    return work(`${OWN_FILES}/${handle}`);
  } finally {
    closeSync(handle);
  }
}

function look(at: At, path: string): TreeEntry {
  try {
    return at(path, lookAt);
  } catch (thrown) {
    const code = errnoCode(thrown) ?? "";
    if (BLOCKED.includes(code)) return { kind: "blocked" };
    if (ABSENT.includes(code)) return { kind: "missing" };
    throw toDiskError(thrown, path);
  }
}

function lookAt(place: string): TreeEntry {
  const facts = lstatSync(place, { bigint: true, throwIfNoEntry: false });
  if (facts === undefined) return { kind: "missing" };
  if (facts.isDirectory()) return { kind: "folder" };
  if (facts.isSymbolicLink()) {
    const bytes = readlinkSync(place, { encoding: "buffer" });
    return { kind: "link", mode: "120000", bytes, stamp: toStamp(facts) };
  }
  if (!facts.isFile()) return { kind: "special" };
  const file = openSync(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    // The stamp of what is read, from before it is read: a write in between shows later.
    const own = fstatSync(file, { bigint: true });
    const permissions = Number(own.mode & 0o7777n);
    const mode = (permissions & 0o100) === 0 ? "100644" : "100755";
    return { kind: "file", mode, permissions, bytes: readFileSync(file), stamp: toStamp(own) };
  } finally {
    closeSync(file);
  }
}

function stampAt(place: string): string | null {
  const facts = lstatSync(place, { bigint: true, throwIfNoEntry: false });
  return facts === undefined ? null : toStamp(facts);
}

function toStamp({ dev, ino, mode, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, mode, size, mtimeNs, ctimeNs].join(" ");
}

function listNames(root: string, folder: string): string[] {
  return orAbsent(() => withFolder(root, folder, (place) => readdirSync(place))) ?? [];
}

function listBelow(root: string, at: At, folder: string): { readonly files: string[]; readonly folders: string[] } {
  const files: string[] = [];
  const folders: string[] = [];
  for (const name of listNames(root, folder)) {
    const path = `${folder}/${name}`;
    if (orAbsent(() => at(path, (place) => lstatSync(place)))?.isDirectory() !== true) {
      files.push(path);
      continue;
    }
    const inside = listBelow(root, at, path);
    folders.push(path, ...inside.folders);
    files.push(...inside.files);
  }
  return { files, folders };
}

function stage(folder: string, temporary: string, { mode, bytes, permissions }: FileToPut): void {
  const place = `${folder}/${temporary}`;
  if (mode === "120000") {
    symlinkSync(Buffer.from(bytes), place);
    ownLike(folder, (uid, gid) => lchownSync(place, uid, gid));
    return;
  }
  const file = openSync(place, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode === "100755" ? 0o777 : 0o666);
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
    ownLike(folder, (uid, gid) => fchownSync(file, uid, gid));
    if (permissions !== null) fchmodSync(file, toPermissions(permissions, mode));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** The permissions a file had, with the right to execute for whoever may read, or for nobody. */
function toPermissions(permissions: number, mode: FileToPut["mode"]): number {
  if (((permissions & 0o100) !== 0) === (mode === "100755")) return permissions & 0o777;
  const rest = permissions & 0o666;
  return mode === "100755" ? rest | ((rest & 0o444) >> 2) : rest;
}

/** Root lands in a tree of someone else, who must be able to write what landed. */
function ownLike(folder: string, give: (uid: number, gid: number) => void): void {
  if (process.getuid?.() !== 0) return;
  // Through the name of an open folder, which is a link to it.
  const { uid, gid } = statSync(folder);
  if (uid !== 0 || gid !== 0) give(uid, gid);
}

function give(place: string, temporary: string, stamp: string | null): boolean {
  if (stampAt(place) !== stamp) return false;
  if (stamp !== null) {
    renameSync(temporary, place);
    return true;
  }
  try {
    // A second name for the file cannot take the place of one that someone made meanwhile.
    linkSync(temporary, place);
  } catch (thrown) {
    const code = errnoCode(thrown);
    if (code === "EEXIST") return false;
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EMLINK") throw thrown;
    renameSync(temporary, place);
    return true;
  }
  unlinkSync(temporary);
  return true;
}

function syncFolder(place: string): void {
  if (process.platform === "win32") return;
  const folder = openSync(place, O_RDONLY | O_DIRECTORY);
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
