import { lstatSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { isAbsence } from "../../core/errors/system.ts";

export const CONFIG_FILE = "verbatim.config.json";
export const STATE_FOLDER = ".verbatim";

/** A root folder and the places below it. Nothing is created until something must be written. */
export interface Workspace {
  readonly root: string;
  /** Top folder of the git work tree around it, or null. */
  readonly workTree: string | null;
  /** Whether the folder was set up before: it has a configuration or a state folder. */
  readonly known: boolean;
  readonly config: string;
  readonly folder: string;
  readonly state: string;
  readonly database: string;
  readonly blobs: string;
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
