import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { POSTGRES_MIGRATIONS } from "../../src/adapters/sql/postgres/migrations/index.ts";
import { migratePostgres, openPostgresStore } from "../../src/adapters/sql/postgres/store.ts";
import { SQLITE_MIGRATIONS } from "../../src/adapters/sql/sqlite/migrations/index.ts";
import { openSqliteStore } from "../../src/adapters/sql/sqlite/store.ts";
import type { Store } from "../../src/core/ports.ts";
import { expectUnbrokenChain } from "../support/chain.ts";
import { fixedPorts } from "../support/fixed-ports.ts";
import { needs } from "../support/needs.ts";
import { usePostgres } from "../support/postgres.ts";
import { DatabaseSync } from "../support/raw-sqlite.ts";

// Every released schema is frozen in test/pins/store, with a little in it. `write.ts` there freezes the next one.

const FOLDER = fileURLToPath(new URL("store/", import.meta.url));
const postgres = await usePostgres();

/** Versions of a database's frozen schemas. */
function frozen(kind: string): number[] {
  const names = readdirSync(FOLDER).map((name) => new RegExp(`^${kind}-v([0-9]+)[.]sql$`).exec(name)?.[1]);
  return names.filter((version) => version !== undefined).map(Number);
}

const readPin = (kind: string, version: number) => readFileSync(join(FOLDER, `${kind}-v${version}.sql`), "utf8");

/** What must still be there after an upgrade, and still be usable. */
async function expectKept(store: Store): Promise<void> {
  const entries = await store.read((tx) => tx.ledger.readStream("context", 0, 10));
  expect(entries.map(({ body, hash }) => `${body} ${hash}`)).toEqual([
    '{"text":"The harbour lamp was lit."} 62825e12fce815ecfabc1d7c47ded9e21e06b5ac31f84de45fa9c14dcc2ea93e',
    '{"text":"Mira counted the boats."} e8d78b5e97cef0d73c7fba765eac8dd138f09c227198b5d31e8653b7112cf614',
  ]);
  const note = { kind: "NOTE_ADDED", actor: "cli", body: { text: "A tenth came in." } };
  await store.transact((tx) => tx.ledger.append("context", 2, [note]));
  expect(await store.read((tx) => tx.ledger.size())).toBe(4);
  expect(await store.read((tx) => tx.ledger.ledgerId())).toBe("00000000-0000-4000-8000-000000000000");
  expectUnbrokenChain(await store.read((tx) => tx.ledger.readStream("context", 0, 10)));
}

it("the migrations of both databases have the same numbers and names, ascending", () => {
  const list = (migrations: readonly { readonly version: number; readonly name: string }[]) =>
    migrations.map(({ version, name }) => `${version} ${name}`);
  expect(list(SQLITE_MIGRATIONS)).toEqual(list(POSTGRES_MIGRATIONS));
  const versions = SQLITE_MIGRATIONS.map(({ version }) => version);
  expect(versions).toEqual([...new Set(versions)].toSorted((a, b) => a - b));
});

describe.each(frozen("sqlite"))("the SQLite schema of version %s", (version) => {
  async function withFolder(fn: (place: (name: string) => string) => Promise<void>): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), "verbatim-pins-"));
    try {
      await fn((name) => join(folder, name));
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  function thaw(path: string): void {
    const database = new DatabaseSync(path);
    database.exec(readPin("sqlite", version));
    database.close();
  }

  function schemaOf(path: string): unknown[] {
    const database = new DatabaseSync(path);
    const rows = database.prepare("select type, name, sql from sqlite_schema order by type, name").all() as unknown[];
    database.close();
    return rows;
  }

  it("is what its migrations still make", async () => {
    await withFolder(async (place) => {
      thaw(place("old.db"));
      const migrations = SQLITE_MIGRATIONS.filter((migration) => migration.version <= version);
      await (await openSqliteStore({ ...fixedPorts(), path: place("new.db"), migrations })).close();
      expect(schemaOf(place("new.db"))).toEqual(schemaOf(place("old.db")));
    });
  });

  it("is upgraded with everything in it", async () => {
    await withFolder(async (place) => {
      thaw(place("old.db"));
      const store = await openSqliteStore({ ...fixedPorts(), path: place("old.db") });
      await expectKept(store);
      await store.close();
      await (await openSqliteStore({ ...fixedPorts(), path: place("new.db") })).close();
      expect(schemaOf(place("old.db"))).toEqual(schemaOf(place("new.db")));
    });
  });
});

const CATALOG = `
select format('%s.%s %s %s %s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, l.collname) as fact
  from pg_class c join pg_attribute a on a.attrelid = c.oid left join pg_collation l on l.oid = a.attcollation
  where c.relnamespace = 'verbatim'::regnamespace and c.relkind = 'r' and a.attnum > 0
union all select format('%s: %s', conrelid::regclass, pg_get_constraintdef(oid))
  from pg_constraint where connamespace = 'verbatim'::regnamespace and contype <> 't'
union all select pg_get_indexdef(i.indexrelid) from pg_index i join pg_class c on c.oid = i.indrelid
  where c.relnamespace = 'verbatim'::regnamespace
union all select format('%s %s', t.tgenabled, pg_get_triggerdef(t.oid)) from pg_trigger t join pg_class c on c.oid = t.tgrelid
  where c.relnamespace = 'verbatim'::regnamespace and not t.tgisinternal
union all select pg_get_functiondef(oid) from pg_proc where pronamespace = 'verbatim'::regnamespace`;

describe.each(frozen("postgres"))("the PostgreSQL schema of version %s", needs(postgres.reason), (version) => {
  async function withDatabases(fn: (old: string, fresh: string) => Promise<void>): Promise<void> {
    const empty = { empty: true };
    const databases = [await postgres.createDatabase(empty), await postgres.createDatabase(empty)] as const;
    try {
      await query(databases[0].url, readPin("postgres", version));
      await fn(databases[0].url, databases[1].url);
    } finally {
      for (const database of databases) await database.drop();
    }
  }

  async function query(url: string, sql: string): Promise<unknown[]> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query<{ fact: string }>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  const schemaOf = async (url: string) =>
    (await query(url, CATALOG)).map((row) => (row as { fact: string }).fact).toSorted();

  it("is what its migrations still make", async () => {
    await withDatabases(async (old, fresh) => {
      const migrations = POSTGRES_MIGRATIONS.filter((migration) => migration.version <= version);
      await migratePostgres({ ...fixedPorts(), url: fresh, migrations });
      expect(await schemaOf(fresh)).toEqual(await schemaOf(old));
    });
  });

  it("is upgraded with everything in it", async () => {
    await withDatabases(async (old, fresh) => {
      await migratePostgres({ ...fixedPorts(), url: old });
      const store = await openPostgresStore({ ...fixedPorts(), url: old });
      await expectKept(store);
      await store.close();
      await migratePostgres({ ...fixedPorts(), url: fresh });
      expect(await schemaOf(old)).toEqual(await schemaOf(fresh));
    });
  });
});
