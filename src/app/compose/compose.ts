import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import { nodeCrypto } from "../../adapters/crypto/node-crypto.ts";
import { createInsideFiles } from "../../adapters/disk/guarded/inside-files.ts";
import { createLocalFiles } from "../../adapters/disk/guarded/local-files.ts";
import { DiskKeys } from "../../adapters/disk/keys.ts";
import type { ResolveName } from "../../adapters/network/judge.ts";
import { resolveName } from "../../adapters/network/resolve.ts";
import { processInterrupts } from "../../adapters/process/host.ts";
import type { JsonValue } from "../../core/canonical/index.ts";
import type { ResolvedConfig } from "../../core/contracts/config/index.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import { type Effect, LOCAL_SURFACES, type Surface } from "../../core/operation.ts";
import type { Clock, ContentStore, Ids, LocalFiles, Progress, Random, SyncCrypto } from "../../core/ports.ts";
import type { KeyFolder } from "../../core/trust/operations.ts";
import type { Interrupts, UserTerminal } from "../../rooms/catalytic/index.ts";
import type { App } from "../call.ts";
import { loadConfig } from "../config/config.ts";
import type { Workspace } from "../config/workspace.ts";
import type { OpenSession } from "../studio/ports.ts";
import { type AppStore, type MostConnections, openStores, type Stores } from "./store/store.ts";
import { findWorkspace, userFolders } from "./store/workspace.ts";

export type { ResolveName, UserTerminal };

/** What a surface knows about one call and about no other. */
export interface CallOptions {
  /** Ends the call: what listens for interrupts hears one, puts back what it began and stops. */
  readonly signal?: AbortSignal;
  /** Where progress of this call goes, instead of the workspace's own. */
  readonly progress?: Progress;
  /** Refuses, by throwing, an answer the surface could not carry; asked before the answer is recorded as given. */
  readonly assertDeliverable?: (output: unknown) => void;
  /** Signals that are meant for this call, besides those of the process. */
  readonly interrupts?: Interrupts;
  /** What of starting commands the surface lets this caller do. */
  readonly starting?: Starting;
  /** Who asks, as the ledger says it, where the surface knows more than its own name. */
  readonly actor?: string;
  /** Told of work that goes on after the answer; ended when nobody is to wait for it any more. */
  readonly hold?: (work: (signal: AbortSignal) => Promise<unknown>) => void;
  /** Told when the answer was given before and is given again. */
  readonly onReplay?: () => void;
}

/** Any command, those that were allowed on this machine, or none. */
export type Starting = "typed" | "allowed" | "off";

// Many calls share one workspace and its caches, so what belongs to one call travels with its promises.
const calls = new AsyncLocalStorage<CallOptions>();

/** Runs a call with what its surface knows about it. */
export function withCall<T>(options: CallOptions | undefined, run: () => Promise<T>): Promise<T> {
  // Every promise of the process costs more once something travels with them, so only what has to does.
  const { signal, progress, assertDeliverable, starting, actor } = options ?? {};
  const isPlain = [signal, progress, assertDeliverable, starting, actor].every((one) => one === undefined);
  return options === undefined || isPlain ? run() : calls.run(options, run);
}

/** What the caller may start. A server that says nothing about it lets nobody. */
function callStarting(surface: Surface): Starting {
  return LOCAL_SURFACES.includes(surface) ? "typed" : (calls.getStore()?.starting ?? "off");
}

/** Work of the current call that goes on after its answer. */
function holdCall(work: (signal: AbortSignal) => Promise<unknown>): void {
  calls.getStore()?.hold?.(work);
}

/** Progress of the call that reports it. */
function callProgress(own: Progress | undefined): Progress {
  return { report: (step) => (calls.getStore()?.progress ?? own)?.report(step) };
}

/** Refuses an answer that the surface of the current call cannot carry. */
export function assertOutputDeliverable(output: unknown): void {
  calls.getStore()?.assertDeliverable?.(output);
}

/** Signals of the process, and the end of the call that listens. */
function callInterrupts(own: Interrupts): Interrupts {
  return {
    listen(onSignal) {
      const { signal, interrupts } = calls.getStore() ?? {};
      const joined = interrupts === undefined ? own : joinInterrupts(own, interrupts);
      return (signal === undefined ? joined : alsoWhen(signal, joined)).listen(onSignal);
    },
  };
}

/** Work inside a call that also hears other signals. */
export function withInterrupts<T>(interrupts: Interrupts, run: () => Promise<T>): Promise<T> {
  return calls.run({ ...calls.getStore(), interrupts }, run);
}

function joinInterrupts(one: Interrupts, other: Interrupts): Interrupts {
  return {
    listen(onSignal) {
      const unlisten = [one.listen(onSignal), other.listen(onSignal)];
      return () => {
        for (const stop of unlisten) stop();
      };
    },
  };
}

/** Interrupts that also come when a signal is given, before or while someone listens. */
export function alsoWhen(signal: AbortSignal, interrupts: Interrupts): Interrupts {
  return {
    listen(onSignal) {
      const end = () => onSignal("SIGTERM");
      const unlisten = interrupts.listen(onSignal);
      signal.addEventListener("abort", end, { once: true });
      if (signal.aborted) end();
      return () => {
        signal.removeEventListener("abort", end);
        unlisten();
      };
    },
  };
}

/** Serves MCP for the workspace around a folder on loopback, behind a token of its own, until it is closed. */
export type ServeMcp = (
  folder: string,
) => Promise<{ readonly url: string; readonly token: string; close(): Promise<void> }>;

/** A process with nobody at it, which tells whoever started it that the agent has started. */
interface Background {
  started(runId: string, runDir: string): void;
  /** The agent that starts next is one of these. */
  inRace(race: { readonly race_id: string; readonly run_ids: readonly string[] }): void;
}

/** Says how a process is, at HOST:PORT, until it is closed; port 0 takes a free one. */
export type ServeHealth = (
  place: string,
  facts: { isReady(): Promise<boolean>; metrics(lagMs: number): Promise<string> },
) => Promise<{ readonly url: string } & AsyncDisposable>;

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
  /** Health of a worker; absent where nobody serves it. */
  readonly serveHealth?: ServeHealth;
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
  readonly serveHealth: ServeHealth | null;
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
  /** How many connections the database may have from this process, before the first one is made. */
  limitConnections(most: MostConnections): void;
  /** The same over the checkout's own file, for what works on this checkout only; itself where the store is that file. */
  ownFile(): Composition;
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
  const places = { workspace, realTime: options.clock === undefined, notify, ...ports };
  const stores = openStores({ ...places, env: options.env });
  const closing: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const one of closing) await one();
    await stores.close();
    await fileStores?.close();
  };
  let fileStores: Stores | undefined;
  let own: Composition | undefined;
  const ownFile = (): Composition => {
    if (stores.databaseUrl() === undefined) return whole;
    fileStores ??= openStores({ ...places, env: {} });
    own ??= make(fileStores);
    return own;
  };
  const make = (of: Stores): Composition => ({
    surface: options.surface,
    get actor() {
      return calls.getStore()?.actor ?? options.surface;
    },
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
    serveHealth: options.serveHealth ?? null,
    resolveName: options.resolveName ?? resolveName,
    config() {
      config ??= loadConfig(workspace, folders.config);
      return config;
    },
    configNow: () => loadConfig(workspace, folders.config),
    store: async (effect) => (await of.open(effect)).store,
    content: async (effect) => (await of.open(effect)).content,
    databaseUrl: of.databaseUrl,
    teamWorkspace: of.teamWorkspace,
    limitConnections: (most) => of.limit(most),
    ownFile,
    async maintain(run) {
      await close();
      return of.maintain(run);
    },
    atClose: (fn) => void closing.push(fn),
    open: reopen,
    close,
  });
  const whole = make(stores);
  return whole;
}

/** A workspace with no caller: nobody is told anything, and no other one is opened from it. */
export function composeAlone(options: Pick<CompositionOptions, "surface" | "start" | "env" | "platform">): Composition {
  return compose(options, () => {
    throw new VerbatimError("INTERNAL", { message: "a workspace of its own opens no other" });
  });
}

async function* noInput(): AsyncIterable<Uint8Array> {
  yield new Uint8Array();
}
