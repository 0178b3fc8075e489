import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { migratePostgres, openPostgresStore, type PostgresStore } from "../../src/adapters/sql/postgres/store.ts";
import { openSqliteStore, type SqliteStore } from "../../src/adapters/sql/sqlite/store.ts";
import { fixedPorts, type HandClock } from "./fixed-ports.ts";
import { POSTGRES_WITH_NOTES, postgresNotes, SQLITE_WITH_NOTES, sqliteNotes } from "./notes-room.ts";
import { enterWorkspace, type TestDatabase, withWorkspace } from "./postgres.ts";
import { DatabaseSync } from "./raw-sqlite.ts";

const sqliteRooms = { notes: sqliteNotes };
const postgresRooms = { notes: postgresNotes };

export type SqliteTestStore = SqliteStore<typeof sqliteRooms>;
export type PostgresTestStore = PostgresStore<typeof postgresRooms>;
export type TestStore = SqliteTestStore | PostgresTestStore;

/** A fresh database of one kind, and a way past the store to its owner's own connection. */
export interface StoreHarness<S extends TestStore = TestStore> {
  readonly clock: HandClock;
  /** Opens the store; several may be open at once. All are closed with the harness. */
  open(busyMs?: number): Promise<S>;
  /** Runs statements as the owner of the database, outside the store, and gives the rows of the last one. */
  raw(...sql: string[]): Promise<Record<string, unknown>[]>;
  /** Whether an error of `raw` is the database saying no, and not a mistake in the SQL. */
  isRefusal(thrown: unknown): boolean;
  destroy(): Promise<void>;
}

export interface SqliteHarness extends StoreHarness<SqliteTestStore> {
  readonly path: string;
}

export interface PostgresHarness extends StoreHarness<PostgresTestStore> {
  readonly url: string;
  readonly schema: string;
}

const BUSY_MS = 10_000;

export async function createSqliteHarness(): Promise<SqliteHarness> {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-store-"));
  const path = join(folder, "state", "store.db");
  const ports = fixedPorts();
  const opened: SqliteTestStore[] = [];
  return {
    path,
    clock: ports.clock,
    async open(busyMs = BUSY_MS) {
      const options = { ...ports, path, migrations: SQLITE_WITH_NOTES, rooms: sqliteRooms, busyMs };
      const store = await openSqliteStore(options);
      opened.push(store);
      return store;
    },
    async raw(...sql) {
      // The driver's defaults: no recursive triggers, as in any SQLite shell.
      const database = new DatabaseSync(path, { timeout: BUSY_MS });
      try {
        for (const statement of sql.slice(0, -1)) database.exec(statement);
        const last = database.prepare(sql.at(-1)!);
        if (last.columns().length > 0) return last.all() as Record<string, unknown>[];
        last.run();
        return [];
      } finally {
        database.close();
      }
    },
    isRefusal: (thrown) => thrown instanceof Error && "errcode" in thrown && (Number(thrown.errcode) & 0xff) === 19,
    async destroy() {
      await Promise.all(opened.map((store) => store.close()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

let schemas = 0;

/** Uses a schema of its own in the given database, named in the address. */
export async function createPostgresHarness(database: TestDatabase): Promise<PostgresHarness> {
  const schema = `notes_${schemas++}`;
  const url = `${database.url}&options=${encodeURIComponent(`-c search_path=${schema}`)}`;
  const ports = fixedPorts();
  const opened: PostgresTestStore[] = [];
  return {
    url,
    schema,
    clock: ports.clock,
    async open(busyMs = BUSY_MS) {
      const options = { ...ports, url, migrations: POSTGRES_WITH_NOTES, rooms: postgresRooms, busyMs };
      await migratePostgres(options);
      const store = await openPostgresStore(options);
      opened.push(store);
      return store;
    },
    async raw(...sql) {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      try {
        await enterWorkspace(client);
        for (const statement of sql.slice(0, -1)) await client.query(statement);
        return (await client.query<Record<string, unknown>>(withWorkspace(sql.at(-1)!))).rows;
      } finally {
        await client.end();
      }
    },
    // restrict_violation is what our triggers raise, insufficient_privilege what the writer's role meets.
    isRefusal: (thrown) =>
      thrown instanceof Error && "code" in thrown && ["23001", "42501"].includes(String(thrown.code)),
    async destroy() {
      await Promise.all(opened.map((store) => store.close()));
    },
  };
}
