import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createContentStore } from "../../../adapters/disk/durable/content-store.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { verifyLedger } from "../../../core/ledger/verify.ts";
import type { Effect } from "../../../core/operation.ts";
import type {
  Clock,
  ContentStore,
  Ids,
  Random,
  ReadTransaction,
  Store,
  SyncCrypto,
  WriteTransaction,
} from "../../../core/ports.ts";
import type { BuildLock, ContextReader, ContextWriter } from "../../../rooms/context/index.ts";
import type { Dispatch, JobsReader, JobsWriter, TeamReader, TeamWriter } from "../../../rooms/jobs/index.ts";
import type { AgentRunsReader, AgentRunsWriter } from "../../../rooms/workflow/index.ts";
import type { WorldReader, WorldWriter } from "../../../rooms/world/index.ts";
import type { Workspace } from "../../config/workspace.ts";
import { closeStateFolder, createStateFolder, isStoreAbsent, refuseLinks } from "./workspace.ts";

/** What doctor says about a store. */
interface StoreFacts {
  readonly [name: string]: unknown;
}

/** A read transaction with the tables of every room. */
interface AppReadTransaction extends ReadTransaction {
  readonly agents: AgentRunsReader;
  readonly context: ContextReader;
  readonly jobs: JobsReader;
  /** Null where the store is a file. */
  readonly team: TeamReader | null;
  readonly world: WorldReader;
}

/** A write transaction with the tables of every room. */
interface AppWriteTransaction extends WriteTransaction {
  readonly agents: AgentRunsWriter;
  readonly context: ContextWriter;
  readonly jobs: JobsWriter;
  readonly team: TeamWriter | null;
  readonly world: WorldWriter;
}

/** The store of a workspace, whichever database holds it. */
export interface AppStore extends Store<AppReadTransaction, AppWriteTransaction> {
  facts(): Promise<StoreFacts>;
  /** Where the database keeps payloads itself. */
  readonly content: ContentStore | null;
  /** The queue of a team, and the id of its workspace; null where the store is a file. */
  readonly dispatch: Dispatch | null;
  readonly workspaceId: string | null;
  /** One index build at a time for all machines; null where the store is a file, which has a lock beside it. */
  readonly buildLock: BuildLock | null;
}

interface StoreOptions {
  readonly path: string;
  /** A PostgreSQL address; SQLite in `path` without one. */
  readonly url: string | undefined;
  /** Name of the workspace in a team's database; the only one of the login without it. */
  readonly workspace?: string | undefined;
  /** The clock is a real one, and not that of a test. */
  readonly realTime?: boolean;
  readonly crypto: SyncCrypto;
  readonly clock: Clock;
  readonly ids: Ids;
  /** A pooler stands before the database. */
  readonly pooled?: boolean;
  readonly most?: MostConnections | undefined;
}

/** Connections to the database that a process may have. */
export interface MostConnections {
  readonly transactions: number;
  readonly payloads: number;
  readonly queue: number;
}

/** Where a workspace keeps what happened, opened when somebody first asks for it. */
export interface Stores {
  open(effect: Effect): Promise<Opened>;
  /** The address of the team's database; undefined where the store is a file. */
  databaseUrl(): string | undefined;
  /** Name of the workspace in it; undefined where the login has only one. */
  teamWorkspace(): string | undefined;
  /** What a store that is opened from now on may use. */
  limit(most: MostConnections): void;
  /** Runs maintenance on a store that nobody else has open, this process included. */
  maintain<T>(run: (store: AppStore) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

interface Opened {
  readonly store: AppStore;
  readonly content: ContentStore;
  close(): Promise<void>;
}

interface StoresOptions extends Pick<StoreOptions, "crypto" | "clock" | "ids"> {
  readonly workspace: Workspace;
  readonly env: NodeJS.ProcessEnv;
  readonly realTime: boolean;
  readonly random: Random;
  notify(text: string): void;
}

/** The stores of a workspace: the real one, and for reading where nothing was ever written an empty one that is thrown away. */
export function openStores({ workspace, env, realTime, notify, ...ports }: StoresOptions): Stores {
  let real: Promise<Opened> | undefined;
  let empty: Promise<Opened> | undefined;
  // An empty variable is how people unset one.
  const url = env["VERBATIM_DATABASE_URL"] === "" ? undefined : env["VERBATIM_DATABASE_URL"];
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
    const name = env["VERBATIM_WORKSPACE"];
    return name === "" ? undefined : name;
  };
  const pooler = env["VERBATIM_POOLER"] ?? "";
  if (pooler !== "" && pooler !== "transaction") {
    throw new VerbatimError("USAGE", {
      message: "VERBATIM_POOLER is transaction or nothing",
      where: "VERBATIM_POOLER",
    });
  }
  let most: MostConnections | undefined;
  const openReal = async (): Promise<Opened> => {
    const store = await openStore({
      path: workspace.database,
      url: databaseUrl(),
      workspace: teamWorkspace(),
      realTime,
      pooled: pooler !== "",
      most,
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
    real ??= openReal().catch((thrown: unknown) => {
      // A database that does not answer now may be asked again.
      real = undefined;
      throw thrown;
    });
    return real;
  };
  return {
    open,
    databaseUrl,
    teamWorkspace,
    limit(given) {
      most = given;
    },
    maintain: (run) =>
      maintainStore({ path: workspace.database, url, workspace: teamWorkspace(), realTime, ...ports }, run),
    async close() {
      const opened = [real, empty];
      real = undefined;
      empty = undefined;
      // Whoever asked for a store that did not open was told so; there is nothing to close then.
      for (const one of opened) await (await one?.catch(() => undefined))?.close();
    },
  };
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

const NO_TEAM = { read: () => null, write: () => null } as const;

/** Opens the database of a workspace; only the driver that is needed is loaded. */
export async function openStore(options: StoreOptions): Promise<AppStore> {
  const { path, url, crypto, clock, ids } = options;
  if (url === undefined || url === "") {
    const { openSqliteStore } = await import("../../../adapters/sql/sqlite/store.ts");
    const { sqliteAgentRuns } = await import("../../../adapters/sql/sqlite/agent-runs-tables.ts");
    const { sqliteContext } = await import("../../../adapters/sql/sqlite/context-tables.ts");
    const { sqliteJobs } = await import("../../../adapters/sql/sqlite/jobs-tables.ts");
    const { sqliteWorld } = await import("../../../adapters/sql/sqlite/world-tables.ts");
    const store = await openSqliteStore({
      path,
      crypto,
      clock,
      ids,
      rooms: {
        agents: sqliteAgentRuns,
        context: sqliteContext,
        jobs: sqliteJobs(clock),
        world: sqliteWorld,
        team: NO_TEAM,
      },
    });
    return bind(store, {
      facts: async () => ({ ...(await store.facts()) }),
      content: null,
      dispatch: null,
      workspaceId: null,
      buildLock: null,
    });
  }
  const { openPostgresStore } = await import("../../../adapters/sql/postgres/store.ts");
  const { postgresAgentRuns } = await import("../../../adapters/sql/postgres/agent-runs-tables.ts");
  const { postgresContext } = await import("../../../adapters/sql/postgres/context-tables.ts");
  const { postgresJobs } = await import("../../../adapters/sql/postgres/jobs-tables.ts");
  const { postgresWorld } = await import("../../../adapters/sql/postgres/world-tables.ts");
  const { Engine } = await import("../../../adapters/pgboss/engine.ts");
  const { engineSchema } = await import("../../../adapters/pgboss/install.ts");
  const { postgresTeam } = await import("../../../adapters/sql/postgres/team-tables.ts");
  let engine: InstanceType<typeof Engine> | null = null;
  const requireEngine = () => {
    if (engine !== null) return engine;
    throw new VerbatimError("INTERNAL", { message: "the queue was used before the store was open" });
  };
  const team = postgresTeam((connection) => requireEngine().bind(connection), {
    look: (connection, row) => requireEngine().look(connection, row),
    count: (connection) => requireEngine().count(connection),
  });
  const store = await openPostgresStore({
    url,
    crypto,
    clock,
    ids,
    workspace: options.workspace,
    serverTime: options.realTime ?? false,
    pooled: options.pooled ?? false,
    ...(options.most === undefined ? {} : { most: options.most }),
    rooms: { agents: postgresAgentRuns, context: postgresContext, jobs: postgresJobs(), world: postgresWorld, team },
  });
  const { schema, workspace_id, connectionString } = await store.place();
  engine = new Engine({
    connectionString,
    schema: engineSchema(schema),
    workspace: workspace_id,
    most: options.most?.queue ?? 2,
  });
  const opened = engine;
  const close = async () => {
    await opened.close();
    await store.close();
  };
  const bound = bind(store, {
    facts: async () => ({ ...(await store.facts()) }),
    content: store.content,
    dispatch: engine,
    workspaceId: workspace_id,
    buildLock: store.buildLock,
  });
  return { ...bound, close };
}

/**
 * Runs maintenance on a store that nobody else has open. A SQLite file is copied, the copy is changed and verified,
 * and only then takes its place; PostgreSQL does it in the transactions of `run`.
 */
async function maintainStore<T>(options: StoreOptions, run: (store: AppStore) => Promise<T>): Promise<T> {
  if (options.url !== undefined && options.url !== "") {
    const store = await openStore(options);
    try {
      return await run(store);
    } finally {
      await store.close();
    }
  }
  const { swapStore } = await import("../../../adapters/sql/sqlite/swap.ts");
  return swapStore(options.path, async (copy) => {
    const store = await openStore({ ...options, path: copy });
    try {
      const result = await run(store);
      const { problems } = await store.read((tx) => verifyLedger(tx.ledger, options.crypto));
      if (problems.length === 0) return result;
      throw new VerbatimError("STORE_CORRUPT", {
        message: "the migrated copy of the store does not verify; the store was left as it was",
        where: options.path,
        details: { problems },
      });
    } finally {
      await store.close();
    }
  });
}

function bind(
  store: Store<AppReadTransaction, AppWriteTransaction>,
  more: Pick<AppStore, "facts" | "content" | "dispatch" | "workspaceId" | "buildLock">,
): AppStore {
  return {
    read: (fn) => store.read(fn),
    transact: (fn) => store.transact(fn),
    close: () => store.close(),
    ...more,
  };
}
