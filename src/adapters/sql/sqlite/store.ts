import { resolve } from "node:path";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { Clock, Ids, LedgerReader, LedgerWriter, Store, SyncCrypto } from "../../../core/ports.ts";
import { TransactionGuard, TransactionKeeper } from "../transaction-guard.ts";
import { prepareTransactions, type ReadTransactionOf, type Rooms, type WriteTransactionOf } from "../transactions.ts";
import { newestVersion } from "../versions.ts";
import {
  type SqliteReadConnection,
  type SqliteWriteConnection,
  type StatementCache,
  TransactionConnection,
} from "./connection.ts";
import { loadSqlite } from "./driver.ts";
import { SqliteLedgerReader, SqliteLedgerWriter } from "./ledger.ts";
import type { SqliteMigration } from "./migration.ts";
import { SQLITE_MIGRATIONS } from "./migrations/index.ts";
import { BUSY_MS, beginImmediate, closeWriter, openReader, openWriter } from "./open.ts";
import { RecentHeads } from "./recent-heads.ts";
import { Semaphore } from "./semaphore.ts";

/** Rooms whose tables are reachable from the transactions of a SQLite store. */
export type SqliteRooms = Rooms<SqliteReadConnection, SqliteWriteConnection>;

interface SqliteStoreOptions<D extends SqliteRooms> {
  /** The database file; its folder is made when it is missing. */
  readonly path: string;
  readonly crypto: SyncCrypto;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly rooms?: D;
  /** Milliseconds to wait for another process before it is STORE_BUSY; 10 s without it. */
  readonly busyMs?: number;
  /** Only tests of migrations give others than the product's. */
  readonly migrations?: readonly SqliteMigration[];
}

/** What `verbatim doctor` shows about the store. */
interface SqliteFacts {
  readonly database: "sqlite";
  readonly path: string;
  readonly driver: string;
  readonly sqlite_version: string;
  readonly schema_version: number;
}

export interface SqliteStore<D extends SqliteRooms> extends Store<ReadTransactionOf<D>, WriteTransactionOf<D>> {
  facts(): Promise<SqliteFacts>;
}

// Readers are only as many as actually read at the same time; each is an open file.
const MAX_READERS = 4;

/** Opens the store in a SQLite file, making or upgrading it when needed. */
export async function openSqliteStore<const D extends SqliteRooms = Record<never, never>>(
  options: SqliteStoreOptions<D>,
): Promise<SqliteStore<D>> {
  const path = resolve(options.path);
  const migrations = options.migrations ?? SQLITE_MIGRATIONS;
  const writer = await openWriter(path, migrations, options, options.busyMs ?? BUSY_MS);
  return new FileStore<D>(path, writer, options, newestVersion(migrations));
}

class FileStore<D extends SqliteRooms> implements SqliteStore<D> {
  readonly #path: string;
  readonly #writer: StatementCache;
  readonly #ports: { readonly crypto: SyncCrypto; readonly clock: Clock };
  readonly #version: number;
  readonly #busyMs: number;
  readonly #heads = new RecentHeads();
  readonly #keeper = new TransactionKeeper();
  readonly #writing = new Semaphore(1);
  readonly #reading = new Semaphore(MAX_READERS);
  readonly #readers: StatementCache[] = [];
  readonly #toReadTransaction: (
    connection: SqliteReadConnection,
    ledger: LedgerReader,
  ) => { readonly ledger: LedgerReader };
  readonly #toWriteTransaction: (
    connection: SqliteWriteConnection,
    ledger: LedgerWriter,
  ) => { readonly ledger: LedgerWriter };
  #closing: Promise<void> | undefined;

  constructor(path: string, writer: StatementCache, options: SqliteStoreOptions<D>, version: number) {
    this.#path = path;
    this.#writer = writer;
    this.#ports = { crypto: options.crypto, clock: options.clock };
    this.#version = version;
    this.#busyMs = options.busyMs ?? BUSY_MS;
    const rooms = Object.entries(options.rooms ?? {});
    this.#toReadTransaction = prepareTransactions(Object.fromEntries(rooms.map(([name, room]) => [name, room.read])));
    this.#toWriteTransaction = prepareTransactions(Object.fromEntries(rooms.map(([name, room]) => [name, room.write])));
  }

  async transact<T>(fn: (tx: WriteTransactionOf<D>) => Promise<T>): Promise<T> {
    this.#requireUsable();
    const turn = this.#writing.take();
    if (turn !== undefined) await turn;
    const lease = new TransactionGuard();
    try {
      const begun = beginImmediate(this.#writer, this.#busyMs);
      if (begun !== undefined) await begun;
      const connection = new TransactionConnection(this.#writer, lease);
      const ledger = new SqliteLedgerWriter(connection, this.#ports, this.#heads);
      const tx = this.#toWriteTransaction(connection, ledger) as WriteTransactionOf<D>;
      const result = await this.#keeper.enter(lease, () => fn(tx));
      commit(this.#writer, lease);
      ledger.committed();
      return result;
    } catch (thrown) {
      rollback(this.#writer, lease);
      throw thrown;
    } finally {
      this.#writing.give();
    }
  }

  async read<T>(fn: (tx: ReadTransactionOf<D>) => Promise<T>): Promise<T> {
    this.#requireUsable();
    const turn = this.#reading.take();
    if (turn !== undefined) await turn;
    const lease = new TransactionGuard();
    try {
      const reader = this.#readers.pop() ?? (await openReader(this.#path, this.#busyMs));
      try {
        reader.statement("begin deferred").run([]);
        const connection = new TransactionConnection(reader, lease);
        const tx = this.#toReadTransaction(connection, new SqliteLedgerReader(connection)) as ReadTransactionOf<D>;
        const result = await this.#keeper.enter(lease, () => fn(tx));
        commit(reader, lease);
        return result;
      } catch (thrown) {
        rollback(reader, lease);
        throw thrown;
      } finally {
        this.#readers.push(reader);
      }
    } finally {
      this.#reading.give();
    }
  }

  async facts(): Promise<SqliteFacts> {
    this.#requireUsable();
    const { name } = await loadSqlite();
    const row = this.#writer.statement("select sqlite_version() as version").get([]) as { version: string };
    return {
      database: "sqlite",
      path: this.#path,
      driver: name,
      sqlite_version: row.version,
      schema_version: this.#version,
    };
  }

  /** Waits for the transactions that are open, then closes the file. */
  async close(): Promise<void> {
    this.#keeper.requireOutside();
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.all([this.#writing.idle(), this.#reading.idle()]);
    for (const reader of this.#readers.splice(0)) reader.close();
    closeWriter(this.#writer);
  }

  #requireUsable(): void {
    this.#keeper.requireOutside();
    if (this.#closing !== undefined) {
      throw new VerbatimError("INTERNAL", { message: "the store was used after it had been closed" });
    }
  }
}

/** Ends a transaction for good, unless one of its statements failed. */
function commit(cache: StatementCache, lease: TransactionGuard): void {
  lease.require();
  lease.end();
  cache.statement("commit").run([]);
}

/** Ends a transaction without a trace. A full disk makes SQLite do so by itself. */
function rollback({ database }: StatementCache, lease: TransactionGuard): void {
  lease.end();
  if (database.inTransaction) database.exec("rollback");
}
