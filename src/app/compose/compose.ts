import { randomBytes, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeCrypto } from "../../adapters/crypto/node-crypto.ts";
import { createContentStore } from "../../adapters/disk/content-store.ts";
import { createInsideFiles } from "../../adapters/disk/inside-files.ts";
import { DiskKeys } from "../../adapters/disk/keys.ts";
import { createLocalFiles } from "../../adapters/disk/local-files.ts";
import type { ResolveName } from "../../adapters/network/judge.ts";
import { resolveName } from "../../adapters/network/resolve.ts";
import { processInterrupts } from "../../adapters/process/host.ts";
import type { JsonValue } from "../../core/canonical/index.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import { type Effect, LOCAL_SURFACES, type Surface } from "../../core/operation.ts";
import type { Clock, ContentStore, Ids, LocalFiles, Progress, Random, SyncCrypto } from "../../core/ports.ts";
import type { KeyFolder } from "../../core/trust/operations.ts";
import type { Interrupts, UserTerminal } from "../../rooms/catalytic/index.ts";

import type { App } from "../call.ts";
import { loadConfig } from "../config/config.ts";
import type { ResolvedConfig } from "../config/config-schema.ts";
import { isStoreAbsent, userFolders, type Workspace } from "../config/workspace.ts";
import type { OpenSession } from "../studio/ports.ts";
import { callInterrupts, callProgress, callStarting, holdCall, type Starting } from "./current-call.ts";
import { type AppStore, maintainStore, openStore } from "./store.ts";
import { closeStateFolder, createStateFolder, findWorkspace, refuseLinks } from "./workspace.ts";

export type { ResolveName, UserTerminal };

/** Serves MCP for the workspace around a folder on loopback, behind a token of its own, until it is closed. */
export type ServeMcp = (
  folder: string,
) => Promise<{ readonly url: string; readonly token: string; close(): Promise<void> }>;

/** A process with nobody at it, which tells whoever started it that the agent has started. */
export interface Background {
  started(runId: string, runDir: string): void;
  /** The agent that starts next is one of these. */
  inRace(race: { readonly race_id: string; readonly run_ids: readonly string[] }): void;
}

export interface CompositionOptions {
  readonly surface: Surface;
  /** Folder from which the workspace is looked for. */
  readonly start: string;
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  readonly stdin?: AsyncIterable<Uint8Array>;
  readonly progress?: Progress;
  /** Told about things a person wants to know, such as the folder that was just made. */
  readonly notify?: (text: string) => void;
  /** Output of a command that runs for the caller, as it comes. */
  readonly onOutput?: (stream: "stdout" | "stderr", bytes: Uint8Array) => void;
  /** The sessions of the server that asks; absent where there is no server. */
  readonly sessions?: () => readonly OpenSession[];
  /** The terminal of the caller; absent where there is none. */
  readonly terminal?: UserTerminal | null;
  /** Set in a process that was started for one agent run, with nobody at it. */
  readonly background?: Background;
  /** MCP for an agent while it runs; absent where nobody serves it. */
  readonly serveMcp?: ServeMcp;
  /** Tests give their own; nobody else does. */
  readonly clock?: Clock;
  readonly ids?: Ids;
  readonly random?: Random;
  readonly resolveName?: ResolveName;
}

/** The places a run of this workspace uses. */
export interface CatalyticPlaces {
  readonly root: string;
  readonly state: string;
  readonly user_state: string;
  /** The `catalytic` object of the configuration as it was written. */
  readonly config: JsonValue;
}

/** Real adapters behind the ports, made when they are first asked for. */
export interface Composition {
  readonly surface: Surface;
  /** Who appends: the surface. */
  readonly actor: string;
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  /** Folder that relative paths of the caller are meant from. */
  readonly start: string;
  readonly workspace: Workspace;
  /** The folder the caller is in. */
  readonly folder: string;
  readonly userState: string;
  readonly crypto: SyncCrypto;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
  readonly progress: Progress;
  /** Signals of the process, and the end of the call that listens. */
  readonly interrupts: Interrupts;
  /** Files the caller names: anywhere for someone at this machine, inside the workspace for everyone else. */
  readonly files: LocalFiles;
  readonly keys: KeyFolder;
  notify(text: string): void;
  onOutput(stream: "stdout" | "stderr", bytes: Uint8Array): void;
  readonly sessions: () => readonly OpenSession[];
  /** The terminal of the caller, or null. */
  readonly terminal: UserTerminal | null;
  readonly background: Background | null;
  /** What of starting commands the caller may do. */
  starting(): Starting;
  /** Work that goes on after the answer of this call. */
  hold(work: (signal: AbortSignal) => Promise<unknown>): void;
  /** MCP for an agent while it runs; null where nobody serves it. */
  readonly serveMcp: ServeMcp | null;
  /** How names are resolved for commands whose network is limited. */
  readonly resolveName: ResolveName;
  /** The configuration with all defaults filled in. */
  config(): ResolvedConfig;
  /** The same as it is on the disk now: a server runs longer than a file stays as it was. */
  configNow(): ResolvedConfig;
  /** The store. Reading where nothing was ever written shows an empty one and creates nothing. */
  store(effect: Effect): Promise<AppStore>;
  content(effect: Effect): Promise<ContentStore>;
  /** The address of the team's database; undefined where the store is a file. */
  databaseUrl(): string | undefined;
  /** Name of the workspace in it; undefined where the login has only one. */
  teamWorkspace(): string | undefined;
  /** Runs maintenance on a store that nobody else has open; everything opened here is closed first. */
  maintain<T>(run: (store: AppStore) => Promise<T>): Promise<T>;
  /** Called before the store is closed, each time it is. */
  atClose(fn: () => Promise<void>): void;
  /** Another workspace, for flows that need one of their own. */
  open(start: string, env: NodeJS.ProcessEnv): App;
  close(): Promise<void>;
}

/** Opens another workspace with the same surface and ports. */
type Reopen = (start: string, env: NodeJS.ProcessEnv) => App;

interface Opened {
  readonly store: AppStore;
  readonly content: ContentStore;
  close(): Promise<void>;
}

/** The only place where adapters meet ports, and where real clocks and randomness are made. */
export function compose(options: CompositionOptions, reopen: Reopen): Composition {
  const workspace = findWorkspace(options.start);
  const folders = userFolders(options.env, options.platform);
  const ports = {
    crypto: nodeCrypto,
    clock: options.clock ?? { now: () => Date.now() },
    ids: options.ids ?? { uuid: () => randomUUID() },
    random: options.random ?? { bytes: (count: number) => new Uint8Array(randomBytes(count)) },
  };
  const notify = options.notify ?? (() => undefined);
  let config: ResolvedConfig | undefined;
  let real: Promise<Opened> | undefined;
  let empty: Promise<Opened> | undefined;

  // An empty variable is how people unset one.
  const url = options.env["VERBATIM_DATABASE_URL"] === "" ? undefined : options.env["VERBATIM_DATABASE_URL"];
  const databaseUrl = (): string | undefined => {
    if (url !== undefined && !/^postgres(ql)?:\/\//.test(url)) {
      throw new VerbatimError("USAGE", {
        message: "VERBATIM_DATABASE_URL is not the address of a PostgreSQL database",
        where: "VERBATIM_DATABASE_URL",
        fix: "Write postgres://USER@HOST/DATABASE, or unset it to use SQLite.",
      });
    }
    return url;
  };
  const teamWorkspace = () => {
    const name = options.env["VERBATIM_WORKSPACE"];
    return name === "" ? undefined : name;
  };
  const realTime = options.clock === undefined;
  const openReal = async (): Promise<Opened> => {
    const store = await openStore({
      path: workspace.database,
      url: databaseUrl(),
      workspace: teamWorkspace(),
      realTime,
      ...ports,
    });
    const content = store.content ?? createContentStore({ folder: workspace.blobs, ...ports });
    return { store, content, close: () => store.close() };
  };
  const openEmpty = async (): Promise<Opened> => {
    const folder = makeTemporaryFolder();
    const store = await openStore({ path: join(folder, "store.db"), url: undefined, ...ports });
    const close = async () => {
      await store.close();
      rmSync(folder, { recursive: true });
    };
    return { store, content: createContentStore({ folder: join(folder, "blobs"), ...ports }), close };
  };
  const open = (effect: Effect): Promise<Opened> => {
    if (effect === "read" && url === undefined && real === undefined && isStoreAbsent(workspace)) {
      empty ??= openEmpty();
      return empty;
    }
    if (effect === "read") {
      refuseLinks(workspace);
      closeStateFolder(workspace);
    } else if (createStateFolder(workspace)) notify(`created ${workspace.folder}`);
    real ??= openReal();
    return real;
  };

  const closing: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const one of closing) await one();
    const opened = [real, empty];
    real = undefined;
    empty = undefined;
    // Whoever asked for a store that did not open was told so; there is nothing to close then.
    for (const one of opened) await (await one?.catch(() => undefined))?.close();
  };

  return {
    surface: options.surface,
    actor: options.surface,
    env: options.env,
    platform: options.platform,
    start: options.start,
    workspace,
    folder: options.start,
    userState: folders.state,
    ...ports,
    progress: callProgress(options.progress),
    interrupts: callInterrupts(processInterrupts),
    files: LOCAL_SURFACES.includes(options.surface)
      ? createLocalFiles(options.start, options.stdin ?? noInput())
      : createInsideFiles(workspace.root),
    keys: new DiskKeys({ folder: join(folders.config, "keys"), base: options.start }, nodeCrypto),
    notify,
    onOutput: options.onOutput ?? (() => undefined),
    sessions: options.sessions ?? (() => []),
    terminal: options.terminal ?? null,
    background: options.background ?? null,
    starting: () => callStarting(options.surface),
    hold: holdCall,
    serveMcp: options.serveMcp ?? null,
    resolveName: options.resolveName ?? resolveName,
    config() {
      config ??= loadConfig(workspace, folders.config);
      return config;
    },
    configNow: () => loadConfig(workspace, folders.config),
    store: async (effect) => (await open(effect)).store,
    content: async (effect) => (await open(effect)).content,
    databaseUrl,
    teamWorkspace,
    async maintain(run) {
      await close();
      return maintainStore({ path: workspace.database, url, workspace: teamWorkspace(), realTime, ...ports }, run);
    },
    atClose: (fn) => void closing.push(fn),
    open: reopen,
    close,
  };
}

/** A workspace with no caller: nobody is told anything, and no other one is opened from it. */
export function composeAlone(options: Pick<CompositionOptions, "surface" | "start" | "env" | "platform">): Composition {
  return compose(options, () => {
    throw new VerbatimError("INTERNAL", { message: "a workspace of its own opens no other" });
  });
}

function makeTemporaryFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), "verbatim-empty-"));
  } catch (thrown) {
    throw new VerbatimError("FOLDER_READ_ONLY", {
      message: "no temporary folder can be created",
      where: tmpdir(),
      fix: "Set TMPDIR to a folder that you can write to.",
      cause: thrown,
    });
  }
}

async function* noInput(): AsyncIterable<Uint8Array> {
  yield new Uint8Array();
}
