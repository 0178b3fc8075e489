import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { needs } from "../support/needs.ts";
import { type TestDatabase, usePostgres } from "../support/postgres.ts";
import { createPostgresHarness, type PostgresHarness } from "../support/stores.ts";
import { expectCode, note } from "./store-suite.ts";

const postgres = await usePostgres();
const FRESH = "f".repeat(64);

// Every way PostgreSQL has to insert a row where one may be already.
const INSERTS: readonly ((target: string, rows: string) => string)[] = [
  (target, rows) => `insert into ${target} ${rows}`,
  (target, rows) => `insert into ${target} ${rows} on conflict do nothing`,
];

const CHANGES: readonly ((table: string, column: string) => string)[] = [
  (table, column) => `update ${table} set ${column} = ${column}`,
  (table) => `delete from ${table}`,
  (table) => `truncate ${table} cascade`,
];

const COLUMNS = { ledger_entry: "body", ledger_order: "idx", store_fact: "value", stamp: "serial", migration: "name" };

describe("append-only tables in PostgreSQL", needs(postgres.reason), () => {
  let database: TestDatabase;
  let harness: PostgresHarness;
  let taken: string;
  let role: string;

  beforeAll(async () => {
    database = await postgres.createDatabase();
  });

  afterAll(async () => {
    await database.drop();
  });

  beforeEach(async () => {
    harness = await createPostgresHarness(database);
    const store = await harness.open();
    const [first] = await store.transact((tx) => tx.ledger.append("a", "next", [note("one"), note("two")]));
    await store.transact((tx) => tx.ledger.append("b", "next", [note("three")]));
    await store.transact((tx) => tx.notes.stamp("A", 1));
    taken = first!.hash;
    role = (await store.facts()).role!;
  });

  afterEach(async () => {
    await harness.destroy();
  });

  const everything = () =>
    Promise.all(Object.keys(COLUMNS).map((table) => harness.raw(`select * from ${table} order by 1, 2`)));

  async function expectAllRefused(attacks: readonly string[], ...before: string[]): Promise<void> {
    const rows = await everything();
    for (const attack of attacks) {
      const result = await harness.raw(...before, attack).catch((e: unknown) => e);
      expect(harness.isRefusal(result), `${attack}\n${String(result)}`).toBe(true);
    }
    expect(await everything()).toEqual(rows);
  }

  const changes = Object.entries(COLUMNS).flatMap(([table, column]) => CHANGES.map((change) => change(table, column)));

  it("refuse update, delete and truncate to their owner", async () => {
    await expectAllRefused(changes);
  });

  it("refuse them to a superuser in replica mode, where ordinary triggers do not fire", async () => {
    await expectAllRefused(changes, "set session_replication_role = replica");
  });

  it("refuse them to the role the store works with, by its rights alone", async () => {
    const tables = Object.keys(COLUMNS)
      .map((table) => `'${table}'`)
      .join(", ");
    const rights = await harness.raw(
      `select table_name, string_agg(privilege_type, ',' order by privilege_type collate "C") as may
       from information_schema.role_table_grants
       where grantee = '${role}' and table_schema = current_schema() and table_name in ('content', 'note', ${tables}) group by 1 order by table_name collate "C"`,
    );
    expect(rights).toEqual([
      { table_name: "content", may: "DELETE,INSERT,SELECT,UPDATE" },
      { table_name: "ledger_entry", may: "INSERT,SELECT" },
      { table_name: "ledger_order", may: "INSERT,SELECT" },
      { table_name: "migration", may: "INSERT,SELECT" },
      { table_name: "note", may: "DELETE,INSERT,SELECT,UPDATE" },
      { table_name: "stamp", may: "INSERT,SELECT" },
      { table_name: "store_fact", may: "INSERT,SELECT" },
    ]);
    await expectAllRefused(changes, `set role ${role}`);
  });

  it("are written with the rights of that role, not with those of the user who connects", async () => {
    const store = await harness.open();
    await harness.raw(`revoke insert on note from ${role}`);
    await expectCode(
      store.transact((tx) => tx.notes.add("ink")),
      "STORE_REFUSED",
    );
  });

  it("refuse an entry that meets another one in any unique key", async () => {
    const entry = (stream: string, position: number, hash: string) =>
      `select '${stream}', ${position}, previous, kind, time, actor, body_hash, '${hash}', 'forged'
       from ledger_entry where stream = 'a' and position = 0`;
    const upsert = (key: string) => (target: string, rows: string) =>
      `insert into ${target} ${rows} on conflict (${key}) do update set body = 'forged'`;
    for (const [key, row] of [
      ["stream, position", entry("a", 0, FRESH)],
      ["hash", entry("new", 0, taken)],
    ] as const) {
      await expectAllRefused([...INSERTS, upsert(key)].map((insert) => insert("ledger_entry", row)));
    }
    for (const row of [`values (0, '${FRESH}')`, `values (3, '${taken}')`]) {
      await expectAllRefused(INSERTS.map((insert) => insert("ledger_order", row)));
    }
  });

  it("refuse a row that meets another one in any key of a room's table", async () => {
    for (const row of ["values ('A', 9)", "values ('Z', 1)"]) {
      await expectAllRefused(INSERTS.map((insert) => insert("stamp", row)));
    }
    await expectAllRefused(INSERTS.map((insert) => insert("store_fact", "values ('ledger_id', 'x')")));
  });

  it("refuse an entry that is not the next one, or has no place in the global order", async () => {
    const zeros = "0".repeat(64);
    const entry = (position: number, previous: string, hash: string) =>
      `insert into ledger_entry select 'a', ${position}, ${previous}, kind, time, actor, body_hash, '${hash}', body
       from ledger_entry where stream = 'a' and position = 0`;
    const head = "(select hash from ledger_entry where stream = 'a' and position = 1)";
    await expectAllRefused([
      entry(3, head, FRESH),
      entry(2, `'${zeros}'`, FRESH),
      entry(2, `'${taken}'`, FRESH),
      entry(2, head, FRESH),
      `insert into ledger_order values (4, '${taken}')`,
    ]);
    await harness.raw("begin", entry(2, head, FRESH), `select ledger_index(array['${FRESH}'])`, "commit");
    expect(await harness.raw("select count(*)::int as n from ledger_entry")).toEqual([{ n: 4 }]);
  });

  it.each([FRESH.toUpperCase(), FRESH.slice(1), `${FRESH.slice(1)}g`])("refuse %s as a hash", async (hash) => {
    const result = await harness
      .raw(
        `insert into ledger_entry select 'new', 0, previous, kind, time, actor, body_hash, '${hash}', body
         from ledger_entry where stream = 'a' and position = 0`,
      )
      .catch((e: unknown) => e);
    expect(result).toMatchObject({ code: "23514" });
  });
});
