import { VerbatimError } from "../../core/errors/index.ts";
import { verifyLedger } from "../../core/ledger/verify.ts";
import type {
  Clock,
  ContentStore,
  Ids,
  ReadTransaction,
  Store,
  SyncCrypto,
  WriteTransaction,
} from "../../core/ports.ts";
import type { ContextReader, ContextWriter } from "../../rooms/context/index.ts";
import type { Dispatch, JobsReader, JobsWriter, TeamReader, TeamWriter } from "../../rooms/jobs/index.ts";
import type { AgentRunsReader, AgentRunsWriter } from "../../rooms/workflow/index.ts";
import type { WorldReader, WorldWriter } from "../../rooms/world/index.ts";

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
  /** Calls back when a room woke this channel, until the result is called; a file cannot wake anyone. */
  subscribe(channel: string, listener: () => void): Promise<() => void>;
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
}

const NO_TEAM = { read: () => null, write: () => null } as const;

/** Opens the database of a workspace; only the driver that is needed is loaded. */
export async function openStore(options: StoreOptions): Promise<AppStore> {
  const { path, url, crypto, clock, ids } = options;
  if (url === undefined || url === "") {
    const { openSqliteStore } = await import("../../adapters/sql/sqlite/store.ts");
    const { sqliteAgentRuns } = await import("../../adapters/sql/sqlite/agent-runs-tables.ts");
    const { sqliteContext } = await import("../../adapters/sql/sqlite/context-tables.ts");
    const { sqliteJobs } = await import("../../adapters/sql/sqlite/jobs-tables.ts");
    const { sqliteWorld } = await import("../../adapters/sql/sqlite/world-tables.ts");
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
      subscribe: async () => () => undefined,
    });
  }
  const { openPostgresStore } = await import("../../adapters/sql/postgres/store.ts");
  const { postgresAgentRuns } = await import("../../adapters/sql/postgres/agent-runs-tables.ts");
  const { postgresContext } = await import("../../adapters/sql/postgres/context-tables.ts");
  const { postgresJobs } = await import("../../adapters/sql/postgres/jobs-tables.ts");
  const { postgresWorld } = await import("../../adapters/sql/postgres/world-tables.ts");
  const { Engine } = await import("../../adapters/pgboss/engine.ts");
  const { engineSchema } = await import("../../adapters/pgboss/install.ts");
  const { postgresTeam } = await import("../../adapters/sql/postgres/team-tables.ts");
  let engine: InstanceType<typeof Engine> | null = null;
  const requireEngine = () => {
    if (engine !== null) return engine;
    throw new VerbatimError("INTERNAL", { message: "the queue was used before the store was open" });
  };
  const team = postgresTeam((connection) => requireEngine().bind(connection));
  const store = await openPostgresStore({
    url,
    crypto,
    clock,
    ids,
    workspace: options.workspace,
    serverTime: options.realTime ?? false,
    rooms: { agents: postgresAgentRuns, context: postgresContext, jobs: postgresJobs(), world: postgresWorld, team },
  });
  const { schema, workspace_id, connectionString } = await store.place();
  engine = new Engine({ connectionString, schema: engineSchema(schema), workspace: workspace_id });
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
    subscribe: (channel, listener) => store.subscribe(channel, listener),
  });
  return { ...bound, close };
}

/**
 * Runs maintenance on a store that nobody else has open. A SQLite file is copied, the copy is changed and verified,
 * and only then takes its place; PostgreSQL does it in the transactions of `run`.
 */
export async function maintainStore<T>(options: StoreOptions, run: (store: AppStore) => Promise<T>): Promise<T> {
  if (options.url !== undefined && options.url !== "") {
    const store = await openStore(options);
    try {
      return await run(store);
    } finally {
      await store.close();
    }
  }
  const { swapStore } = await import("../../adapters/sql/sqlite/swap.ts");
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
  more: Pick<AppStore, "facts" | "content" | "dispatch" | "workspaceId" | "subscribe">,
): AppStore {
  return {
    read: (fn) => store.read(fn),
    transact: (fn) => store.transact(fn),
    close: () => store.close(),
    ...more,
  };
}
