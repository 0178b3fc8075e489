import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSqliteHarness, type SqliteHarness } from "../support/stores.ts";
import { note } from "./store-suite.ts";

const FRESH = "f".repeat(64);

// Every way SQLite has to insert a row where one may be already.
const INSERTS: readonly ((target: string, rows: string) => string)[] = [
  (target, rows) => `insert into ${target} ${rows}`,
  (target, rows) => `replace into ${target} ${rows}`,
  (target, rows) => `insert or replace into ${target} ${rows}`,
  (target, rows) => `insert or ignore into ${target} ${rows}`,
  (target, rows) => `insert or fail into ${target} ${rows}`,
  (target, rows) => `insert or rollback into ${target} ${rows}`,
  (target, rows) => `insert into ${target} ${rows} on conflict do nothing`,
  (target, rows) => `insert into ${target} ${rows} on conflict do update set rowid = rowid`,
];

const CHANGES: readonly ((table: string, column: string) => string)[] = [
  (table, column) => `update ${table} set ${column} = ${column}`,
  (table, column) => `update or replace ${table} set ${column} = ${column}`,
  (table, column) => `update or ignore ${table} set ${column} = ${column}`,
  (table) => `delete from ${table}`,
  (table) => `delete from ${table} where true`,
];

describe.each(["off", "on"])("append-only tables in SQLite, recursive triggers %s", (recursive) => {
  let harness: SqliteHarness;
  let taken: string;

  beforeEach(async () => {
    harness = await createSqliteHarness();
    const store = await harness.open();
    const [first] = await store.transact((tx) => tx.ledger.append("a", "next", [note("one"), note("two")]));
    await store.transact((tx) => tx.ledger.append("b", "next", [note("three")]));
    await store.transact((tx) => tx.notes.stamp("A", 1));
    taken = first!.hash;
  });

  afterEach(async () => {
    await harness.destroy();
  });

  const everything = async () => [
    await harness.raw("select * from ledger_entry order by idx"),
    await harness.raw("select * from store_fact"),
    await harness.raw("select * from stamp"),
    await harness.raw("select version, name from migration"),
  ];

  async function expectAllRefused(attacks: readonly string[]): Promise<void> {
    const before = await everything();
    for (const attack of attacks) {
      const result = await harness.raw(`pragma recursive_triggers = ${recursive}`, attack).catch((e: unknown) => e);
      expect(harness.isRefusal(result), `${attack}\n${String(result)}`).toBe(true);
    }
    expect(await everything()).toEqual(before);
  }

  const forged = (idx: number, stream: string, position: number, hash: string) => `
    select ${idx}, '${stream}', ${position}, previous, kind, time, actor, body_hash, '${hash}', 'forged'
    from ledger_entry where idx = 0`;

  it("refuse every kind of update and delete", async () => {
    const columns = { ledger_entry: "body", store_fact: "value", stamp: "serial", migration: "name" };
    await expectAllRefused(
      Object.entries(columns).flatMap(([table, column]) => CHANGES.map((change) => change(table, column))),
    );
    await expectAllRefused([
      "update ledger_entry set body = '{}' where idx = 1",
      "update or replace ledger_entry set idx = 0 where idx = 2",
      "update or replace stamp set code = 'B'",
    ]);
  });

  it("refuse an entry that meets another one in any unique key", async () => {
    const rows = {
      index: forged(0, "new", 0, FRESH),
      place: forged(3, "a", 0, FRESH),
      hash: forged(3, "new", 0, taken),
    };
    for (const row of Object.values(rows)) {
      await expectAllRefused(INSERTS.map((insert) => insert("ledger_entry", `select * from (${row}) where true`)));
    }
  });

  it("refuse a row that meets another one in any key of a room's table", async () => {
    for (const row of ["select 'A', 9", "select 'Z', 1"]) {
      await expectAllRefused(INSERTS.map((insert) => insert("stamp", `${row} where true`)));
    }
    const id = "select 'ledger_id', 'x' where true";
    await expectAllRefused(INSERTS.slice(0, -1).map((insert) => insert("store_fact", id)));
  });

  it("refuse an entry that is not the next one", async () => {
    const zeros = "0".repeat(64);
    const entry = (idx: number, position: number, previous: string, hash: string) =>
      `insert into ledger_entry select ${idx}, 'a', ${position}, ${previous}, kind, time, actor, body_hash, '${hash}', body
       from ledger_entry where idx = 0`;
    const head = "(select hash from ledger_entry where stream = 'a' and position = 1)";
    await expectAllRefused([
      entry(4, 2, head, FRESH),
      entry(3, 3, head, FRESH),
      entry(3, 2, `'${zeros}'`, FRESH),
      entry(3, 2, `'${taken}'`, FRESH),
      entry(3, 2, head, FRESH.toUpperCase()),
      entry(3, 2, head, FRESH.slice(1)),
      entry(3, 2, head, `${FRESH.slice(1)}g`),
      "insert into ledger_entry select null, 'a', 2, hash, kind, time, actor, body_hash, hash, body from ledger_entry",
    ]);
    await harness.raw(entry(3, 2, head, FRESH));
    expect(await harness.raw("select count(*) as n from ledger_entry")).toEqual([{ n: 4 }]);
  });
});
