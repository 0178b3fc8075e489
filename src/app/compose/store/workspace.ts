import { existsSync, lstatSync, mkdirSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import {
  isWide,
  narrow,
  narrowBelow,
  PRIVATE_FILE,
  PRIVATE_FOLDER,
} from "../../../adapters/disk/guarded/private-modes.ts";
import { findGitPlace } from "../../../adapters/git/top-level.ts";
import { isForeign, isTrustedRepository, trustedUsers } from "../../../adapters/git/trusted-owner.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { errnoCode, isAbsence, toDiskError } from "../../../core/errors/system.ts";
import { showPath } from "../../../core/paths/index.ts";
import { CONFIG_FILE, STATE_FOLDER, type Workspace } from "../../config/workspace.ts";

/**
 * The workspace of a folder. Inside a git repository its top level ends the search: nearest folder up to it with our
 * file or folder, else the top level. Elsewhere: nearest parent with one of the two, else the folder itself. WORKSPACE_FOREIGN.
 */
export function findWorkspace(start: string, users: ReadonlySet<number> = trustedUsers()): Workspace {
  const from = toFolder(start);
  const git = findGitPlace(from);
  const own = findUp(from, git?.top ?? null);
  if (own !== null) refuseForeign(own, git?.top ?? null, users);
  return toWorkspace(own ?? git?.top ?? from, own !== null, git === null || git.isBare ? null : git.top);
}

function toFolder(start: string): string {
  let folder: string;
  try {
    folder = realpathSync(start);
    if (statSync(folder).isDirectory()) return folder;
  } catch (thrown) {
    if (!isAbsence(thrown)) {
      throw new VerbatimError("FILE_UNREADABLE", { message: "the folder cannot be read", where: start, cause: thrown });
    }
    throw new VerbatimError("FILE_NOT_FOUND", { message: "the folder does not exist", where: start, cause: thrown });
  }
  throw new VerbatimError("FILE_NOT_FOUND", { message: "this is not a folder", where: start });
}

/** The nearest folder with our file or folder, not above `last`. */
function findUp(start: string, last: string | null): string | null {
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, CONFIG_FILE)) || existsSync(join(folder, STATE_FOLDER))) return folder;
    if (folder === last || folder === dirname(folder)) return null;
  }
}

/** Where everyone may write, such as the temporary folder, nobody decides for the next one who works there. */
function refuseForeign(root: string, top: string | null, users: ReadonlySet<number>): void {
  const foreign = [CONFIG_FILE, STATE_FOLDER].map((name) => join(root, name)).find((place) => isForeign(place, users));
  if (foreign === undefined || (top !== null && isTrustedRepository(top, users))) return;
  throw new VerbatimError("WORKSPACE_FOREIGN", {
    where: foreign,
    ...(top === null ? {} : { fix: `If you trust it: git config --global --add safe.directory ${showPath(top)}` }),
  });
}

/** Makes the state folder when it is missing; says whether it did. The folder keeps itself out of the repository. */
export function createStateFolder(workspace: Workspace): boolean {
  refuseLinks(workspace);
  if (existsSync(workspace.state)) {
    closeStateFolder(workspace);
    return false;
  }
  try {
    mkdirSync(workspace.state, { recursive: true, mode: PRIVATE_FOLDER });
    narrow(workspace.folder);
    writeFileSync(join(workspace.folder, ".gitignore"), "*\n", { flag: "wx", mode: PRIVATE_FILE });
  } catch (thrown) {
    if (errnoCode(thrown) !== "EEXIST") throw toDiskError(thrown, workspace.root);
  }
  return true;
}

/**
 * Takes the rights of others away from a state folder of an earlier version: the store, the records of runs, and the
 * folder itself last, so that one that is private was done to the end. Outputs and domains keep their modes.
 */
export function closeStateFolder({ folder, state }: Workspace): void {
  if (!isWide(folder)) return;
  // What a command made or a run puts back has modes that are part of it: it is enough that nobody else gets there.
  const works = join(state, "catalytic");
  const isClosed = (place: string) =>
    basename(place) === "quarantine" || (dirname(place) === works && !basename(place).startsWith("_"));
  for (const place of [state, join(folder, "runs")]) {
    if (lstatSync(place, { throwIfNoEntry: false })?.isDirectory() === true) {
      narrowBelow(place, isClosed);
      narrow(place);
    }
  }
  narrow(join(folder, ".gitignore"));
  narrow(folder);
}

/** Refuses places of the store that are links: they would let a repository place or overwrite files anywhere. */
export function refuseLinks({ folder, state, database, blobs }: Workspace): void {
  for (const place of [folder, state, blobs]) {
    const facts = look(place);
    if (facts !== undefined && !facts.isDirectory())
      refusePlace(place, facts.isSymbolicLink() ? "a link" : "no folder");
  }
  for (const place of [database, `${database}-wal`, `${database}-shm`, `${database}-journal`]) {
    const facts = look(place);
    if (facts !== undefined && !facts.isFile()) refusePlace(place, facts.isSymbolicLink() ? "a link" : "no file");
  }
}

function look(place: string) {
  try {
    return lstatSync(place, { throwIfNoEntry: false });
  } catch (thrown) {
    if (isAbsence(thrown)) return undefined;
    throw new VerbatimError("FILE_UNREADABLE", {
      message: "the state folder cannot be read",
      where: place,
      fix: "Check the permissions of the folder .verbatim.",
      cause: thrown,
    });
  }
}

function refusePlace(place: string, what: string): never {
  throw new VerbatimError("PATH_REFUSED", {
    message: `part of the state folder is ${what}`,
    where: place,
    fix: "Remove it; it is created again when it is needed.",
  });
}

/** The places of a workspace at a root that is known. */
export function toWorkspace(root: string, known: boolean, workTree: string | null): Workspace {
  const folder = join(root, STATE_FOLDER);
  const state = join(folder, "state");
  return {
    root,
    workTree,
    known,
    config: join(root, CONFIG_FILE),
    folder,
    state,
    database: join(state, "store.db"),
    blobs: join(state, "blobs"),
  };
}

/** Whether nothing was ever stored here. What cannot be looked at counts as there, so that opening it says why. */
export function isStoreAbsent({ database }: Workspace): boolean {
  try {
    return lstatSync(database, { throwIfNoEntry: false }) === undefined;
  } catch (thrown) {
    return isAbsence(thrown);
  }
}

/** The user's own folders (configuration: keys; state: workflow runs), as each system has them. */
export function userFolders(
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform,
): { readonly config: string; readonly state: string } {
  const home = findHome(env, platform);
  if (platform === "win32") {
    return {
      config: join(env["APPDATA"] ?? join(home, "AppData", "Roaming"), "verbatim"),
      state: join(env["LOCALAPPDATA"] ?? join(home, "AppData", "Local"), "verbatim"),
    };
  }
  const library = join(home, "Library", "Application Support", "verbatim");
  const fallback = platform === "darwin" ? { config: library, state: library } : null;
  return {
    config: toXdg(env["XDG_CONFIG_HOME"]) ?? fallback?.config ?? join(home, ".config", "verbatim"),
    state: toXdg(env["XDG_STATE_HOME"]) ?? fallback?.state ?? join(home, ".local", "state", "verbatim"),
  };
}

// The variable that the platform itself asks first; an empty one counts as unset.
function findHome(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  return env[platform === "win32" ? "USERPROFILE" : "HOME"] || homedir();
}

/** Where workflow runs lie. An empty variable is how people unset one. */
export function findRunsRoot(
  { env, platform }: { readonly env: NodeJS.ProcessEnv; readonly platform: NodeJS.Platform },
  configured: string | null,
): string {
  const given = env["VERBATIM_RUNS_ROOT"];
  if (given !== undefined && given !== "") return resolve(given);
  return resolve(configured ?? join(userFolders(env, platform).state, "runs"));
}

// The XDG base directory rules: an empty or relative value counts as unset.
function toXdg(value: string | undefined): string | null {
  return value?.startsWith("/") === true ? join(value, "verbatim") : null;
}
