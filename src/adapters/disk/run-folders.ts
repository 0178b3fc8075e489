import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
} from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { VerbatimError } from "../../core/errors/index.ts";
import type { RunFolder, RunFolders } from "../../rooms/workflow/ports.ts";
import { appendDurably, syncFolder, writeAllDurably, writeDurably } from "./durable-write.ts";
import { errnoCode, toDiskError } from "./errors.ts";
import { lockRun } from "./run-lock.ts";

/** The run directories of one repository below `<runs_root>/<slug>`. */
export function createRunFolders(root: string, repoRoot: string): RunFolders {
  return {
    root,
    ids: () => listFolders(root).filter((id) => existsSync(join(root, id, "RUN.json"))),
    // A link in place of a run could lead anywhere.
    open: (id) => (look(join(root, id))?.isDirectory() === true ? openFolder(join(root, id)) : null),
    openPath: (path) => openFolder(resolve(path)),
    create: (id) => createFolder(join(root, id), repoRoot),
    lock: lockRun,
  };
}

function listFolders(root: string): string[] {
  try {
    return readdirSync(root, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch (thrown) {
    if (errnoCode(thrown) === "ENOENT") return [];
    throw thrown;
  }
}

function openFolder(dir: string): RunFolder | null {
  return look(join(dir, "RUN.json"))?.isFile() === true ? toFolder(dir) : null;
}

/** What is at a place that somebody named, or null: a name below a file, too long or with NUL names nothing. */
function look(place: string): Stats | null {
  try {
    return lstatSync(place, { throwIfNoEntry: false }) ?? null;
  } catch (thrown) {
    const code = errnoCode(thrown) ?? "";
    if (["ENOTDIR", "ENAMETOOLONG", "ELOOP", "ERR_INVALID_ARG_VALUE"].includes(code)) return null;
    if (code === "EACCES" || code === "EPERM") {
      throw new VerbatimError("FILE_UNREADABLE", { where: place, cause: thrown });
    }
    throw thrown;
  }
}

function createFolder(dir: string, repoRoot: string): RunFolder {
  refuseNearRepo(dir, repoRoot);
  try {
    mkdirSync(dirname(dir), { recursive: true, mode: 0o700 });
    mkdirSync(dir, { mode: 0o700 });
  } catch (thrown) {
    if (errnoCode(thrown) === "EEXIST") throw new VerbatimError("RUN_EXISTS", { where: dir, cause: thrown });
    throw toDiskError(thrown, dir);
  }
  syncFolder(dirname(dir));
  return toFolder(dir);
}

// The nearest existing ancestor decides, so that a link cannot hide where the run would lie.
function refuseNearRepo(dir: string, repoRoot: string): void {
  const repo = realpathSync.native(repoRoot);
  let existing = dirname(dir);
  while (!existsSync(existing)) existing = dirname(existing);
  const real = join(realpathSync.native(existing), relative(existing, dir));
  if (isWithin(real, repo) || isWithin(repo, real)) {
    throw new VerbatimError("RUN_DIR_INSIDE_REPO", {
      message: `${real} and ${repo} lie inside each other`,
      where: real,
    });
  }
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function toFolder(dir: string): RunFolder {
  const at = (path: string) => join(dir, ...path.split("/"));
  return {
    id: dir.slice(dir.lastIndexOf(sep) + 1),
    dir,
    read: (path) => readOrNull(at(path)),
    size: (path) => statSync(at(path), { throwIfNoEntry: false })?.size ?? null,
    write: (path, bytes) => writeDurably(at(path), toBytes(bytes)),
    writeAll: (files) => writeAllDurably(files.map(([path, bytes]) => [at(path), bytes])),
    append: (path, text) => appendDurably(at(path), toBytes(text)),
    move: (from, to) => {
      mkdirSync(dirname(at(to)), { recursive: true });
      renameSync(at(from), at(to));
      syncFolder(dirname(at(to)));
    },
    remove: (path) => rmSync(at(path), { recursive: true, force: true }),
    list: (folder = "") => listFiles(at(folder), folder),
    makeFolder: (path) => {
      mkdirSync(at(path), { recursive: true });
      return at(path);
    },
  };
}

function toBytes(bytes: Uint8Array | string): Uint8Array {
  return typeof bytes === "string" ? Buffer.from(bytes, "utf8") : bytes;
}

function readOrNull(place: string): Uint8Array | null {
  try {
    return readFileSync(place);
  } catch (thrown) {
    const code = errnoCode(thrown);
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw thrown;
  }
}

function listFiles(place: string, prefix: string): string[] {
  const files: string[] = [];
  let entries: ReturnType<typeof readFolder>;
  try {
    entries = readFolder(place);
  } catch (thrown) {
    if (errnoCode(thrown) === "ENOENT" || errnoCode(thrown) === "ENOTDIR") return [];
    throw thrown;
  }
  for (const entry of entries) {
    const path = prefix === "" ? entry.name : `${prefix}/${entry.name}`;
    if (entry.isDirectory()) files.push(...listFiles(join(place, entry.name), path));
    else if (entry.isFile()) files.push(path);
  }
  return files;
}

function readFolder(place: string) {
  return readdirSync(place, { withFileTypes: true });
}
