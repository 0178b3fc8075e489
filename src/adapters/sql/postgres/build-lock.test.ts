import { hostname } from "node:os";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fixedPorts } from "../../../../test/support/fixed-ports.ts";
import { needs } from "../../../../test/support/needs.ts";
import { type TestDatabase, usePostgres } from "../../../../test/support/postgres.ts";
import { parseAddress } from "./address.ts";
import { createPostgresBuildLock } from "./build-lock.ts";
import { ConnectionPool } from "./pool.ts";
import { openPostgresStore } from "./store.ts";
import { addWorkspace } from "./workspaces.ts";

const postgres = await usePostgres();

describe("the lock of index builds in PostgreSQL", needs(postgres.reason), () => {
  let database: TestDatabase;
  const pools: ConnectionPool[] = [];

  beforeAll(async () => {
    database = await postgres.createDatabase();
  });

  afterAll(async () => {
    for (const pool of pools) await pool.end();
    await database.drop();
  });

  async function open(workspace = "main"): Promise<ConnectionPool> {
    const store = await openPostgresStore({ ...fixedPorts(), url: database.url, workspace });
    const { workspace_id, role } = await store.facts();
    await store.close();
    const pool = new ConnectionPool(parseAddress(database.url, 1000), { role, workspace: workspace_id }, 2);
    pools.push(pool);
    return pool;
  }

  it("is INDEX_BUSY with the holder's process after the time it waits, and free afterwards", async () => {
    const [one, two] = [await open(), await open()];
    await createPostgresBuildLock(one).hold(async () => {
      const second = createPostgresBuildLock(two, { patienceMs: 30 });
      await expect(second.hold(async () => "second")).rejects.toMatchObject({
        code: "INDEX_BUSY",
        exit: 4,
        message: `another index build is running (process ${process.pid} on ${hostname()})`,
        details: { pid: process.pid },
      });
    });
    expect(await createPostgresBuildLock(two, { patienceMs: 30 }).hold(async () => "second")).toBe("second");
  });

  it("is another one in another workspace", async () => {
    await addWorkspace({ url: database.url, name: "quay", logins: [], ids: fixedPorts().ids });
    const [one, two] = [await open(), await open("quay")];
    const both = createPostgresBuildLock(one).hold(() =>
      createPostgresBuildLock(two, { patienceMs: 30 }).hold(async () => "both"),
    );
    expect(await both).toBe("both");
  });

  it("is free again when its holder vanished, and holds no session", async () => {
    const [one, two] = [await open(), await open()];
    // Nobody renews or gives back what a machine without power held.
    const gone = { query: one.query.bind(one) };
    const lease = createPostgresBuildLock(gone, { leaseMs: 1500 });
    let begun: () => void = () => undefined;
    const isHeld = new Promise<void>((resolve) => {
      begun = resolve;
    });
    void lease.hold(() => {
      gone.query = () => Promise.reject(new Error("the machine is gone"));
      begun();
      return new Promise(() => undefined);
    });
    await isHeld;
    const sessions =
      "select 1 from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())";
    expect((await two.query(sessions, [])).rowCount).toBe(0);
    expect(await createPostgresBuildLock(two, { patienceMs: 60_000 }).hold(async () => "next")).toBe("next");
  });

  it("cannot be asked for at a server that is not there", async () => {
    const nowhere = new ConnectionPool(
      parseAddress("postgres://nobody@127.0.0.1:1/none", 1000),
      { role: null, workspace: null },
      1,
    );
    await expect(createPostgresBuildLock(nowhere).hold(async () => 1)).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
    });
    await nowhere.end();
  });
});
