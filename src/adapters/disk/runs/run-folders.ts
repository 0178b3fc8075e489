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
import { isJsonObject, parseJson } from "../../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { errnoCode, toDiskError } from "../../../core/errors/system.ts";
import type { RepoIdentity, RepoIdentityPort, RunFolder, RunFolders, RunOwner } from "../../../rooms/workflow/ports.ts";
import { appendDurably, syncFolder, writeAllDurably, writeDurably } from "../durable/durable-write.ts";
import { PRIVATE_FILE, PRIVATE_FOLDER } from "../guarded/private-modes.ts";
import { lockRun } from "./run-lock.ts";

interface RunPlaces {
  readonly runsRoot: string;
  /** What the repository is called there. */
  readonly slug: string;
  readonly repoRoot: string;
  readonly identity: RepoIdentityPort;
}

/**
 * The run directories of one repository: `<slug>-<first 8 of its id>` whatever the slug was when a run was made, and
 * those of the first generation in `<slug>`, which name their repository only by its root.
 */
export function createRunFolders(places: RunPlaces): RunFolders {
  const { runsRoot, slug, repoRoot, identity } = places;
  const isOwn = (run: RunOwner) => belongs(run, places, identity.current());
  const open = (id: string): RunFolder | null => {
    const me = identity.current();
    for (const root of listRoots(places, me)) {
      // A link in place of a run could lead anywhere.
      const folder = look(join(root, id))?.isDirectory() === true ? openFolder(join(root, id)) : null;
      if (folder !== null && isListed(folder.dir, places, me)) return folder;
    }
    return null;
  };
  return {
    ids: (known) => {
      const me = identity.current();
      const found = listRoots(places, me).flatMap((root) =>
        listFolders(root).filter(
          (id) => known?.has(id) !== true && existsSync(join(root, id, RUN)) && isListed(join(root, id), places, me),
        ),
      );
      return [...new Set(found)];
    },
    open,
    openPath: (path) => openFolder(resolve(path)),
    isOwn,
    create: (id) => {
      if (open(id) !== null) throw new VerbatimError("RUN_EXISTS", { where: open(id)!.dir });
      return createFolder(join(runsRoot, nameOf(slug, identity.settle())), id, repoRoot);
    },
    lock: lockRun,
  };
}

/**
 * A run by its id and the root it recorded, for where the identity of the repository is hidden: inside the view of an
 * agent. Good enough to judge a hook call by, not to change anything.
 */
export function findRunByRoot(places: Omit<RunPlaces, "identity">, id: string): string | null {
  const { runsRoot, slug, repoRoot } = places;
  const names = listFolders(runsRoot).filter((name) => name === slug || name.slice(0, -9) === slug);
  const dirs = names.map((name) => join(runsRoot, name, id));
  return dirs.find((dir) => readOwner(join(dir, RUN))?.repo_root === repoRoot) ?? null;
}

const RUN = "RUN.json";

function nameOf(slug: string, { repo_id }: RepoIdentity): string {
  return `${slug}-${repo_id.slice(0, 8)}`;
}

/** The folders that may hold runs of this repository, the newest form first. */
function listRoots({ runsRoot, slug }: RunPlaces, me: RepoIdentity | null): string[] {
  const own = me === null ? [] : [nameOf(slug, me)];
  const moved =
    me === null ? [] : listFolders(runsRoot).filter((name) => name.endsWith(nameOf("", me)) && name !== own[0]);
  return [...own, ...moved, slug].map((name) => join(runsRoot, name));
}

function belongs(run: RunOwner, { repoRoot, identity }: RunPlaces, me: RepoIdentity | null): boolean {
  if (run.repo_id === undefined) return run.repo_root === repoRoot;
  if (run.repo_id !== me?.repo_id) return false;
  // Two clones of a repository that has our state committed begin with one id: the root of the run tells them apart.
  return run.repo_root === repoRoot || !identity.livesAt(run.repo_id, run.repo_root, repoRoot);
}

/** Whether a directory is a run of this repository. One that says nothing is left to whoever reads it in full. */
function isListed(dir: string, places: RunPlaces, me: RepoIdentity | null): boolean {
  const owner = readOwner(join(dir, RUN));
  if (owner === null) return dirname(dir) !== join(places.runsRoot, places.slug);
  return belongs(owner, places, me);
}

function readOwner(place: string): RunOwner | null {
  const bytes = readOrNull(place);
  if (bytes === null) return null;
  try {
    const value = parseJson(bytes);
    if (!isJsonObject(value)) return null;
    const { repo_root, repo_id } = value;
    if (typeof repo_root !== "string" || (repo_id !== undefined && typeof repo_id !== "string")) return null;
    return { repo_root, repo_id };
  } catch (thrown) {
    if (isVerbatimError(thrown)) return null;
    throw thrown;
  }
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
  return look(join(dir, RUN))?.isFile() === true ? toFolder(dir) : null;
}

/** What is at a place that someone named, or null: a name below a file, too long or with NUL names nothing. */
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

function createFolder(root: string, id: string, repoRoot: string): RunFolder {
  const dir = join(root, id);
  refuseNearRepo(dir, repoRoot);
  try {
    mkdirSync(dirname(dir), { recursive: true, mode: PRIVATE_FOLDER });
    mkdirSync(dir, { mode: PRIVATE_FOLDER });
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
      message: `${real} and ${repo} overlap`,
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
    write: (path, bytes) => writeDurably(at(path), toBytes(bytes), PRIVATE_FILE),
    writeAll: (files) => writeAllDurably(files.map(([path, bytes]) => [at(path), bytes])),
    append: (path, text) => appendDurably(at(path), toBytes(text)),
    move: (from, to) => {
      mkdirSync(dirname(at(to)), { recursive: true, mode: PRIVATE_FOLDER });
      renameSync(at(from), at(to));
      syncFolder(dirname(at(to)));
    },
    remove: (path) => rmSync(at(path), { recursive: true, force: true }),
    list: (folder = "") => listFiles(at(folder), folder),
    makeFolder: (path) => {
      mkdirSync(at(path), { recursive: true, mode: PRIVATE_FOLDER });
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
