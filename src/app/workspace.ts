import { existsSync, lstatSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { errnoCode, toDiskError } from "../adapters/disk/errors.ts";
import { VerbatimError } from "../core/errors/index.ts";

export const CONFIG_FILE = "verbatim.config.json";
const STATE_FOLDER = ".verbatim";

/** A root folder and the places below it. Nothing is created until something must be written. */
export interface Workspace {
  readonly root: string;
  /** Whether the folder was set up before: it has a configuration or a state folder. */
  readonly known: boolean;
  readonly config: string;
  readonly folder: string;
  readonly state: string;
  readonly database: string;
  readonly blobs: string;
}

/** Finds the root like git does: nearest parent with our file or folder, else the git top level, else the folder itself. */
export function findWorkspace(start: string): Workspace {
  const from = toFolder(start);
  const own = findUp(from, (folder) => existsSync(join(folder, CONFIG_FILE)) || existsSync(join(folder, STATE_FOLDER)));
  const root = own ?? findUp(from, (folder) => existsSync(join(folder, ".git"))) ?? from;
  return toWorkspace(root, own !== null);
}

function toWorkspace(root: string, known: boolean): Workspace {
  const folder = join(root, STATE_FOLDER);
  const state = join(folder, "state");
  return {
    root,
    known,
    config: join(root, CONFIG_FILE),
    folder,
    state,
    database: join(state, "store.db"),
    blobs: join(state, "blobs"),
  };
}

function toFolder(start: string): string {
  try {
    return realpathSync(start);
  } catch (thrown) {
    throw new VerbatimError("FILE_NOT_FOUND", { message: "the folder does not exist", where: start, cause: thrown });
  }
}

function findUp(start: string, isThere: (folder: string) => boolean): string | null {
  for (let folder = start; ; folder = dirname(folder)) {
    if (isThere(folder)) return folder;
    if (folder === dirname(folder)) return null;
  }
}

/** Makes the state folder when it is missing; says whether it did. The folder keeps itself out of the repository. */
export function createStateFolder(workspace: Workspace): boolean {
  refuseLink(workspace.folder);
  refuseLink(workspace.state);
  if (existsSync(workspace.state)) return false;
  try {
    mkdirSync(workspace.state, { recursive: true });
    writeFileSync(join(workspace.folder, ".gitignore"), "*\n", { flag: "wx" });
  } catch (thrown) {
    if (errnoCode(thrown) !== "EEXIST") throw toDiskError(thrown, workspace.root);
  }
  return true;
}

// A state folder that is a link would let a repository place our store anywhere.
function refuseLink(place: string): void {
  if (lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() === true) {
    throw new VerbatimError("PATH_REFUSED", {
      message: "the state folder is a link",
      where: place,
      fix: "Remove the link; the folder is made when it is needed.",
    });
  }
}

/** The user's own folders (configuration: keys; state: workflow runs), as each system has them. */
export function userFolders(
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform,
): { readonly config: string; readonly state: string } {
  const home = homedir();
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

// The XDG base directory rules: an empty or relative value counts as unset.
function toXdg(value: string | undefined): string | null {
  return value?.startsWith("/") === true ? join(value, "verbatim") : null;
}
