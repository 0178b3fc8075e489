import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DatabaseSync } from "../support/raw-sqlite.ts";
import { createSqliteHarness, type SqliteHarness } from "../support/stores.ts";
import { describeStore, expectCode, note } from "./store-suite.ts";

describe("a store in SQLite", () => {
  describeStore(createSqliteHarness);

  let harness: SqliteHarness;

  beforeEach(async () => {
    harness = await createSqliteHarness();
  });

  afterEach(async () => {
    await harness.destroy();
  });

  /** Opens what lies at the store's place, expects a code, and that not one byte of any file changed. */
  async function expectUntouched(code: string): Promise<void> {
    const folder = dirname(harness.path);
    const names = readdirSync(folder).filter((name) => !name.endsWith("-shm"));
    const contents = () => names.map((name) => [name, readFileSync(join(folder, name), "hex")]);
    const before = contents();
    await expect(harness.open()).rejects.toMatchObject({ code, where: harness.path });
    expect(contents()).toEqual(before);
  }

  function prepareFile(fill: (path: string) => void): void {
    mkdirSync(dirname(harness.path), { recursive: true });
    fill(harness.path);
  }

  it("says who made it and what it is made with", async () => {
    const store = await harness.open();
    expect(await store.facts()).toMatchObject({ database: "sqlite", path: harness.path, schema_version: 1000 });
  });

  it("survives power loss after every commit: WAL with full synchronisation", async () => {
    const store = await harness.open();
    await store.transact((tx) => tx.ledger.append("context", "next", [note("one")]));
    expect(await harness.raw("pragma journal_mode")).toEqual([{ journal_mode: "wal" }]);
    expect(statSync(`${harness.path}-wal`).size).toBeGreaterThan(0);
  });

  it("refuses a store from the future and leaves it alone", async () => {
    await (await harness.open()).close();
    await harness.raw("pragma user_version = 2000");
    await expectUntouched("STORE_FROM_FUTURE");
  });

  it("refuses a store with a migration it does not know", async () => {
    await (await harness.open()).close();
    await harness.raw("insert into migration values (999, 'from another branch', '2030-01-01T00:00:00.000Z')");
    await expect(harness.open()).rejects.toMatchObject({ code: "STORE_FROM_FUTURE", details: { version: 999 } });
  });

  it("refuses a text file in place of a database and leaves it alone", async () => {
    prepareFile((path) => writeFileSync(path, "These are my notes about the sea.\n".repeat(200)));
    await expectUntouched("STORE_CORRUPT");
  });

  it("refuses a database of another program and leaves it alone", async () => {
    prepareFile((path) => {
      const other = new DatabaseSync(path);
      other.exec("create table recipes (name text); insert into recipes values ('soup')");
      other.close();
    });
    await expectUntouched("STORE_CORRUPT");
  });

  it("takes an empty file for a store that is still to be made", async () => {
    prepareFile((path) => writeFileSync(path, ""));
    const store = await harness.open();
    expect(await store.read((tx) => tx.ledger.size())).toBe(0);
  });

  it("names a damaged file when it meets the damage", async () => {
    const store = await harness.open();
    const texts = Array.from({ length: 200 }, (_, i) => note(`page ${i} `.repeat(40)));
    await store.transact((tx) => tx.ledger.append("context", "next", texts));
    await store.close();
    const bytes = readFileSync(harness.path);
    bytes.fill(0xa5, 8192, bytes.length - 4096);
    writeFileSync(harness.path, bytes);
    const look = async () => (await harness.open()).read((tx) => tx.ledger.readAll(0, 1000));
    await expectCode(look(), "STORE_CORRUPT");
  });

  it("says STORE_BUSY when another process holds the lock for too long, and works again afterwards", async () => {
    const store = await harness.open(200);
    const other = new DatabaseSync(harness.path);
    other.exec("begin immediate");
    await expectCode(
      store.transact((tx) => tx.ledger.append("context", "next", [note("waiting")])),
      "STORE_BUSY",
    );
    other.exec("rollback");
    other.close();
    await store.transact((tx) => tx.ledger.append("context", "next", [note("at last")]));
    expect(await store.read((tx) => tx.ledger.size())).toBe(1);
  });

  it("keeps the rest of the process running while it waits for another process", async () => {
    const store = await harness.open();
    const other = new DatabaseSync(harness.path);
    other.exec("begin immediate");
    const waiting = store.transact((tx) => tx.ledger.append("context", "next", [note("patience")]));
    // Were the event loop blocked, this timer could not end what the transaction waits for.
    await new Promise((resolve) => setTimeout(resolve, 120));
    other.exec("rollback");
    other.close();
    await waiting;
    expect(await store.read((tx) => tx.ledger.size())).toBe(1);
  });

  it("says DISK_FULL when the file may not grow, and keeps what was there", async () => {
    const store = await harness.open();
    await store.transact((tx) => tx.ledger.append("context", "next", [note("small")]));
    await store.close();
    const full = await harness.open();
    const long = note("x".repeat(3_000_000));
    const attempt = full.transact(async (tx) => {
      await tx.notes.limitPages(100);
      await tx.ledger.append("context", "next", [long]);
    });
    await expectCode(attempt, "DISK_FULL");
    expect(await full.read((tx) => tx.ledger.size())).toBe(1);
    await full.transact((tx) => tx.ledger.append("context", "next", [note("goes on")]));
    expect(await full.read((tx) => tx.ledger.size())).toBe(2);
  });

  it("folds the WAL into the file when it is closed, so that the file alone is the store", async () => {
    const store = await harness.open();
    await store.transact((tx) => tx.ledger.append("context", "next", [note("one"), note("two")]));
    await store.close();
    const second = await createSqliteHarness();
    mkdirSync(dirname(second.path), { recursive: true });
    copyFileSync(harness.path, second.path);
    const copy = await second.open();
    expect(await copy.read((tx) => tx.ledger.size())).toBe(2);
    await second.destroy();
  });
});
