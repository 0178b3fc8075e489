import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fixedPorts } from "../../../../test/support/fixed-ports.ts";
import { SqliteReadThread } from "./read-thread.ts";
import { openSqliteStore, type SqliteStore } from "./store.ts";

// Takes far longer than a turn of the event loop on any machine.
const LONG =
  "with recursive n (i) as (select 1 union all select i + 1 from n where i < 2000000) select max(i) as most from n";
const SIZE = "select count(*) as size from context_symbol";

describe("a reader of the store in a thread", () => {
  let folder: string;
  let path: string;
  let store: SqliteStore<Record<never, never>>;
  const started: SqliteReadThread[] = [];

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "verbatim-thread-"));
    path = join(folder, "store.db");
    store = await openSqliteStore({ ...fixedPorts(), path });
  });
  afterEach(async () => {
    for (const thread of started.splice(0)) await thread.end();
    await store.close();
    rmSync(folder, { recursive: true });
  });

  function start(script?: string): SqliteReadThread {
    const thread = new SqliteReadThread(path, script);
    started.push(thread);
    return thread;
  }

  it("leaves the event loop alone while a statement takes its time", async () => {
    const thread = start();
    await thread.read((sql) => sql.get("select 1"));
    let turns = 0;
    let isDone = false;
    const reading = thread
      .read((sql) => sql.get(LONG))
      .finally(() => {
        isDone = true;
      });
    while (!isDone) {
      await turn();
      turns++;
    }
    expect(await reading).toEqual({ most: 2_000_000 });
    expect(turns).toBeGreaterThan(20);
  });

  it("gives rows with numbers, texts and bytes as they are, one transaction after the other", async () => {
    const thread = start();
    const bytes = Uint8Array.from([0, 255, 7]);
    const rows = thread.read((sql) =>
      sql.all("select ? as n, ? as t, ? as b, null as z", 5, "caf\u00e9 \u{1f600}", bytes),
    );
    const typed = thread.read((sql) => sql.get("select typeof(?) as kind", 5));
    expect(await rows).toEqual([{ n: 5, t: "caf\u00e9 \u{1f600}", b: bytes, z: null }]);
    expect(await typed).toEqual({ kind: "integer" });
  });

  it("cannot write, and says what a database said", async () => {
    const thread = start();
    await expect(thread.read((sql) => sql.get("delete from context_symbol returning 1"))).rejects.toMatchObject({
      code: "INTERNAL",
      message: expect.stringContaining("tried to write"),
    });
    await expect(thread.read((sql) => sql.get("select nothing from nowhere"))).rejects.toMatchObject({
      code: "INTERNAL",
    });
    await expect(thread.read((sql) => sql.get("select ?", "a\0b"))).rejects.toMatchObject({
      code: "STORE_TEXT_INVALID",
    });
    expect(await thread.read((sql) => sql.get(SIZE))).toEqual({ size: 0 });
  });

  it("refuses a transaction that is over", async () => {
    const thread = start();
    const kept = await thread.read(async (sql) => sql);
    await expect(kept.get(SIZE)).rejects.toMatchObject({ code: "INTERNAL" });
  });

  it("that cannot be started is a refusal with a code, for everyone who waits", async () => {
    const thread = start("throw new Error('no threads today');");
    const waiting = [thread.read((sql) => sql.get(SIZE)), thread.read((sql) => sql.get(SIZE))];
    for (const one of await Promise.allSettled(waiting)) {
      expect(one).toMatchObject({
        status: "rejected",
        reason: { code: "STORE_UNAVAILABLE", message: expect.stringContaining("no threads today") },
      });
    }
  });

  it("that ends in the middle is a refusal, and the next reader gets a new one", async () => {
    const died = `const { parentPort } = require("node:worker_threads");
      parentPort.on("message", ({ id, kind }) => kind === "all" ? process.exit(3) : parentPort.postMessage({ id, rows: [] }));`;
    const thread = start(died);
    await expect(thread.read((sql) => sql.get(SIZE))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(await thread.read(async () => "begun")).toBe("begun");
  });

  it("starts again after its end when it is asked", async () => {
    const thread = start();
    await thread.read((sql) => sql.get(SIZE));
    await thread.end();
    await thread.end();
    expect(await thread.read((sql) => sql.get(SIZE))).toEqual({ size: 0 });
  });
});
