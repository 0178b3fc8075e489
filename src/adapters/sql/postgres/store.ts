import { setTimeout as wait } from "node:timers/promises";
import type pg from "pg";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { Clock, ContentStore, Ids, LedgerReader, LedgerWriter, Store, SyncCrypto } from "../../../core/ports.ts";
import type { BuildLock } from "../../../rooms/context/ports.ts";
import { TransactionGuard, TransactionKeeper } from "../transaction-guard.ts";
import { prepareTransactions, type ReadTransactionOf, type Rooms, type WriteTransactionOf } from "../transactions.ts";
import { newestVersion } from "../versions.ts";
import { type Address, parseAddress, type TransactionMode, type WorksAs } from "./address.ts";
import { createPostgresBuildLock } from "./build-lock.ts";
import { type PostgresReadConnection, type PostgresWriteConnection, TransactionConnection } from "./connection.ts";
import { PostgresContentStore } from "./content-store.ts";
import { isRetryable, sqlState, toStoreError } from "./errors.ts";
import { PostgresLedgerReader, PostgresLedgerWriter } from "./ledger.ts";
import {
  type DatabaseState,
  findTeamWorkspace,
  inspectDatabase,
  type Migrated,
  migrateDatabase,
  type Prepared,
  requireDatabase,
} from "./migrate.ts";
import type { PostgresMigration } from "./migration.ts";
import { POSTGRES_MIGRATIONS } from "./migrations/index.ts";
import { ConnectionPool } from "./pool.ts";
import { type DatabaseUse, measureDatabase } from "./status.ts";

/** Rooms whose tables are reachable from the transactions of a PostgreSQL store. */
export type PostgresRooms = Rooms<PostgresReadConnection, PostgresWriteConnection>;

interface PostgresStoreOptions<D extends PostgresRooms> {
  /** `postgres://user@host/database`; the schema is `verbatim` unless the address's `options` set a search_path. */
  readonly url: string;
  readonly crypto: SyncCrypto;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly rooms?: D;
  /** Name of the workspace; the only one this login was given without it. */
  readonly workspace?: string | undefined;
  /** Entries take the time of the server, which all machines share; a test gives its own with the clock. */
  readonly serverTime?: boolean;
  /** Milliseconds to wait for a lock of another process before it is STORE_BUSY; 10 s without it. */
  readonly busyMs?: number;
  /** A pooler between gives each transaction to whichever session is free. */
  readonly pooled?: boolean;
  /** How many connections at most: for transactions, and for payloads. */
  readonly most?: { readonly transactions: number; readonly payloads: number };
  /** Only tests of migrations give others than the product's. */
  readonly migrations?: readonly PostgresMigration[];
}

/** What `verbatim doctor` shows about the store. */
interface PostgresFacts {
  readonly database: "postgres";
  readonly where: string;
  readonly schema: string;
  readonly workspace: string;
  readonly workspace_id: string;
  readonly server_version: string;
  readonly schema_version: number;
  /** The role without the right to change the ledger; null when it could not be taken on, and then why. */
  readonly role: string | null;
  readonly role_missing_because: string | null;
}

export interface PostgresStore<D extends PostgresRooms> extends Store<ReadTransactionOf<D>, WriteTransactionOf<D>> {
  /** Payloads, in the same database. */
  readonly content: ContentStore;
  facts(): Promise<PostgresFacts>;
  /** Where it is, for whoever needs connections of its own beside it. */
  place(): Promise<{ readonly connectionString: string; readonly schema: string; readonly workspace_id: string }>;
  /** One index build at a time for everyone who works in this workspace. */
  readonly buildLock: BuildLock;
}

const BUSY_MS = 10_000;
const MAX_TRANSACTIONS = 6;
// Payloads have connections of their own: a transaction that waits for one must not starve behind other transactions.
const MAX_PAYLOADS = 2;
const MAX_ATTEMPTS = 6;

interface MigrateOptions {
  readonly url: string;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Say what would be done, and do nothing. */
  readonly dryRun?: boolean;
  /** Name of the workspace that a new store, or one from before there were workspaces, becomes; `main` without it. */
  readonly workspace?: string;
  /** Makes the queue's tables beside those of the records. */
  readonly installEngine?: (connectionString: string, schema: string, role: string | null) => Promise<void>;
  /** Only tests of migrations give others than the product's. */
  readonly migrations?: readonly PostgresMigration[];
}

/** Makes or upgrades the store in a PostgreSQL database: the only thing that creates or alters anything there. */
export async function migratePostgres(options: MigrateOptions): Promise<Migrated & Pick<Address, "where">> {
  const address = parseAddress(options.url, BUSY_MS);
  const done = await migrateDatabase(address, options.migrations ?? POSTGRES_MIGRATIONS, options);
  if (options.dryRun !== true) {
    await options.installEngine?.(address.connectionString, address.schema, done.role.name);
  }
  return { where: address.where, ...done };
}

/** What is in a PostgreSQL database, without changing it. `use` is null where there is no store of this version. */
export interface PostgresStatus extends DatabaseState, Pick<Address, "where" | "schema"> {
  readonly newest: number;
  readonly use: DatabaseUse | null;
}

export async function inspectPostgres(url: string, workspace?: string): Promise<PostgresStatus> {
  const address = parseAddress(url, BUSY_MS);
  const { where, schema } = address;
  const state = await inspectDatabase(address, POSTGRES_MIGRATIONS);
  if (state.missing.length > 0)
    return { where, schema, newest: newestVersion(POSTGRES_MIGRATIONS), ...state, use: null };
  const isPlain = workspace !== undefined || state.workspaces.length === 1;
  const found = isPlain ? findTeamWorkspace(state, workspace, where).id : null;
  const use = await measureDatabase(address, { role: state.role.name, workspace: found });
  return { where, schema, newest: newestVersion(POSTGRES_MIGRATIONS), ...state, use };
}

/** Opens the store in a PostgreSQL database and changes nothing in it; its schema must be the one this program knows. */
export async function openPostgresStore<const D extends PostgresRooms = Record<never, never>>(
  options: PostgresStoreOptions<D>,
): Promise<PostgresStore<D>> {
  const address = parseAddress(options.url, options.busyMs ?? BUSY_MS);
  const migrations = options.migrations ?? POSTGRES_MIGRATIONS;
  const prepared = await requireDatabase(address, migrations);
  const { id, name } = findTeamWorkspace(prepared, options.workspace, address.where);
  const place = { role: prepared.role, serverVersion: prepared.serverVersion, id, name };
  return new ServerStore<D>(address, place, options, newestVersion(migrations));
}

/** Where a store works: whose rights it has, and the workspace. */
type Place = Pick<Prepared, "role" | "serverVersion"> & { readonly id: string; readonly name: string };

class ServerStore<D extends PostgresRooms> implements PostgresStore<D> {
  readonly content: ContentStore;
  readonly buildLock: BuildLock;
  readonly #address: Address;
  readonly #prepared: Place;
  readonly #as: WorksAs;
  readonly #version: number;
  readonly #isPooled: boolean;
  readonly #ports: { readonly crypto: SyncCrypto; readonly clock: Clock; readonly serverTime: boolean };
  readonly #keeper = new TransactionKeeper();
  readonly #transactions: ConnectionPool;
  readonly #payloads: ConnectionPool;
  readonly #toReadTransaction: (c: PostgresReadConnection, ledger: LedgerReader) => { readonly ledger: LedgerReader };
  readonly #toWriteTransaction: (c: PostgresWriteConnection, ledger: LedgerWriter) => { readonly ledger: LedgerWriter };
  #closing: Promise<unknown> | undefined;

  constructor(address: Address, prepared: Place, options: PostgresStoreOptions<D>, version: number) {
    this.#address = address;
    this.#prepared = prepared;
    this.#as = { role: prepared.role.name, workspace: prepared.id };
    this.#version = version;
    this.#ports = { crypto: options.crypto, clock: options.clock, serverTime: options.serverTime ?? false };
    this.#isPooled = options.pooled ?? false;
    const { transactions, payloads } = options.most ?? { transactions: MAX_TRANSACTIONS, payloads: MAX_PAYLOADS };
    this.#transactions = new ConnectionPool(address, this.#as, transactions);
    this.#payloads = new ConnectionPool(address, this.#as, payloads);
    this.buildLock = createPostgresBuildLock(this.#transactions);
    this.content = new PostgresContentStore(this.#payloads, this.#ports, address.where);
    const rooms = Object.entries(options.rooms ?? {});
    this.#toReadTransaction = prepareTransactions(Object.fromEntries(rooms.map(([name, room]) => [name, room.read])));
    this.#toWriteTransaction = prepareTransactions(Object.fromEntries(rooms.map(([name, room]) => [name, room.write])));
  }

  async transact<T>(fn: (tx: WriteTransactionOf<D>) => Promise<T>): Promise<T> {
    this.#requireUsable();
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#transactions.use((client) => this.#tryTransact(client, fn));
      } catch (thrown) {
        // The server has rolled back what it refused for the sake of others, so running it again is safe.
        if (!isRetryable(thrown) || attempt === MAX_ATTEMPTS) throw thrown;
      }
      await wait(attempt * 5);
    }
  }

  async #tryTransact<T>(client: pg.PoolClient, fn: (tx: WriteTransactionOf<D>) => Promise<T>): Promise<T> {
    // Read committed: what is read after waiting for a stream's lock must be what the other writer committed.
    await this.#begin(client, "read committed read write");
    const lease = new TransactionGuard();
    const connection = this.#bind(client, lease);
    const ledger = new PostgresLedgerWriter(connection, this.#ports);
    try {
      const tx = this.#toWriteTransaction(connection, ledger) as WriteTransactionOf<D>;
      const result = await this.#keeper.enter(lease, () => fn(tx));
      await ledger.order();
      await connection.settled();
      lease.require();
      lease.end();
      await this.#commit(client);
      return result;
    } catch (thrown) {
      await this.#rollback(client, connection, lease);
      // The first failure is the reason; what the caller made of it may hide that trying again would help.
      throw lease.failure !== undefined && isRetryable(lease.failure) ? lease.failure : thrown;
    }
  }

  async read<T>(fn: (tx: ReadTransactionOf<D>) => Promise<T>): Promise<T> {
    this.#requireUsable();
    return this.#transactions.use(async (client) => {
      await this.#begin(client, "repeatable read read only");
      const lease = new TransactionGuard();
      const connection = this.#bind(client, lease);
      try {
        const tx = this.#toReadTransaction(connection, new PostgresLedgerReader(connection)) as ReadTransactionOf<D>;
        const result = await this.#keeper.enter(lease, () => fn(tx));
        await connection.settled();
        lease.require();
        lease.end();
        await this.#ask(client, "commit");
        return result;
      } catch (thrown) {
        await this.#rollback(client, connection, lease);
        throw thrown;
      }
    });
  }

  #bind(client: pg.PoolClient, lease: TransactionGuard): TransactionConnection {
    return new TransactionConnection(client, lease, this.#address.where, !this.#isPooled);
  }

  async #commit(client: pg.PoolClient): Promise<void> {
    let command: string;
    try {
      command = await this.#ask(client, "commit");
    } catch (thrown) {
      if (sqlState(thrown) !== null) throw thrown;
      throw new VerbatimError("STORE_UNAVAILABLE", {
        message: "the connection broke during the commit; it is not known whether the transaction took effect",
        where: this.#address.where,
        fix: {
          cli: "Check the store before you repeat the command.",
          others: "Check what was written before you try again.",
        },
        details: { outcome: "unknown" },
        cause: thrown,
      });
    }
    // The server answers a commit of a failed transaction with a rollback, and without an error.
    if (command !== "COMMIT") {
      throw new VerbatimError("INTERNAL", { message: `the database answered ${command} to a commit` });
    }
  }

  async #rollback(client: pg.PoolClient, connection: TransactionConnection, lease: TransactionGuard): Promise<void> {
    lease.end();
    await connection.settled();
    try {
      await this.#ask(client, "rollback");
    } catch (thrown) {
      // A connection that broke has rolled back already; the caller throws why it came here.
      if (sqlState(thrown) !== null) throw thrown;
    }
  }

  async #begin(client: pg.PoolClient, mode: TransactionMode): Promise<void> {
    await this.#ask(client, this.#address.begin(mode, this.#as));
  }

  async #ask(client: pg.PoolClient, sql: string): Promise<string> {
    try {
      return (await client.query(sql)).command;
    } catch (thrown) {
      throw toStoreError(thrown, this.#address.where);
    }
  }

  async facts(): Promise<PostgresFacts> {
    const { role, serverVersion } = this.#prepared;
    return {
      database: "postgres",
      where: this.#address.where,
      schema: this.#address.schema,
      workspace: this.#prepared.name,
      workspace_id: this.#prepared.id,
      server_version: serverVersion,
      schema_version: this.#version,
      role: role.name,
      role_missing_because: role.why,
    };
  }

  async place() {
    const { connectionString, schema } = this.#address;
    return { connectionString, schema, workspace_id: this.#prepared.id };
  }

  /** Waits for the transactions that are open, then closes all connections. */
  async close(): Promise<void> {
    this.#keeper.requireOutside();
    this.#closing ??= Promise.all([this.#transactions.end(), this.#payloads.end()]);
    await this.#closing;
  }

  #requireUsable(): void {
    this.#keeper.requireOutside();
    if (this.#closing !== undefined) {
      throw new VerbatimError("INTERNAL", { message: "the store was used after it had been closed" });
    }
  }
}
