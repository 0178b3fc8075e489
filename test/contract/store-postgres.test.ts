import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { migratePostgres, openPostgresStore } from "../../src/adapters/sql/postgres/store.ts";
import { fixedPorts } from "../support/fixed-ports.ts";
import { needs } from "../support/needs.ts";
import { POSTGRES_WITH_NOTES } from "../support/notes-room.ts";
import { type TestDatabase, usePostgres } from "../support/postgres.ts";
import { createPostgresHarness, type PostgresHarness } from "../support/stores.ts";
import { describeStore, expectCode, note } from "./store-suite.ts";

const postgres = await usePostgres();

describe("a store in PostgreSQL", needs(postgres.reason), () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await postgres.createDatabase();
  });

  afterAll(async () => {
    await database.drop();
  });

  describeStore(() => createPostgresHarness(database));

  describe("on its own", () => {
    let harness: PostgresHarness;

    beforeEach(async () => {
      harness = await createPostgresHarness(database);
    });

    afterEach(async () => {
      await harness.destroy();
    });

    /** Resolves when `count` callers have arrived: every later attempt passes at once. */
    function meetingOf(count: number): () => Promise<void> {
      let arrived = 0;
      let open: () => void = () => undefined;
      const met = new Promise<void>((resolve) => {
        open = resolve;
      });
      return async () => {
        arrived++;
        if (arrived >= count) open();
        await met;
      };
    }

    it("says who it is and as which role it works", async () => {
      const store = await harness.open();
      expect(await store.facts()).toMatchObject({
        database: "postgres",
        schema: harness.schema,
        schema_version: 1000,
        role: expect.stringMatching(/^verbatim_writer_/),
        role_missing_because: null,
      });
    });

    it("lets writers of different streams work at the same time", async () => {
      const store = await harness.open();
      const meet = meetingOf(2);
      await Promise.all(
        ["job/1", "job/2"].map((stream) =>
          store.transact(async (tx) => {
            await tx.ledger.append(stream, "next", [note("both are here")]);
            await meet();
          }),
        ),
      );
      expect(await store.read((tx) => tx.ledger.size())).toBe(2);
    });

    it("holds a stream for whoever asked for its head", async () => {
      const store = await harness.open();
      const order: string[] = [];
      let second: Promise<unknown> = Promise.resolve();
      await store.transact(async (tx) => {
        await tx.ledger.head("context");
        second = harness.open().then((other) =>
          other.transact(async (otherTx) => {
            await otherTx.ledger.append("context", "next", [note("second")]);
            order.push("second");
          }),
        );
        await harness.raw(
          `do $$ begin while not exists (select 1 from pg_locks where locktype = 'advisory' and not granted
            and database = (select oid from pg_database where datname = current_database()))
           loop perform pg_sleep(0.01); end loop; end $$`,
        );
        await tx.ledger.append("context", 0, [note("first")]);
        order.push("first");
      });
      await second;
      expect(order).toEqual(["first", "second"]);
    });

    it("runs a transaction again that the server ended to resolve a deadlock", async () => {
      const store = await harness.open();
      const meet = meetingOf(2);
      let runs = 0;
      await Promise.all(
        [
          ["job/1", "job/2"],
          ["job/2", "job/1"],
        ].map((streams) =>
          store.transact(async (tx) => {
            runs++;
            for (const stream of streams) {
              await tx.ledger.append(stream, "next", [note("crossing")]);
              await meet();
            }
          }),
        ),
      );
      expect(runs).toBe(3);
      expect(await store.read((tx) => tx.ledger.streams())).toEqual([
        { stream: "job/1", length: 2 },
        { stream: "job/2", length: 2 },
      ]);
    });

    it("says STORE_BUSY when a lock is held for too long", async () => {
      const store = await harness.open();
      await store.transact(async (tx) => {
        await tx.ledger.head("context");
        const other = await harness.open(200);
        await expectCode(
          other.transact((otherTx) => otherTx.ledger.append("context", "next", [note("too long")])),
          "STORE_BUSY",
        );
      });
    });

    it("says STORE_UNAVAILABLE when its connection is cut, loses only that transaction, and goes on", async () => {
      const store = await harness.open();
      await store.transact((tx) => tx.ledger.append("context", "next", [note("before")]));
      const cut = store.transact(async (tx) => {
        await tx.ledger.append("context", "next", [note("lost")]);
        await harness.raw(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and state = 'idle in transaction'`,
        );
        await tx.ledger.append("context", "next", [note("never")]);
      });
      await expectCode(cut, "STORE_UNAVAILABLE");
      await store.transact((tx) => tx.ledger.append("context", "next", [note("after")]));
      const entries = await store.read((tx) => tx.ledger.readStream("context", 0, 10));
      expect(entries.map((entry) => entry.body)).toEqual(['{"text":"before"}', '{"text":"after"}']);
    });

    it("survives that idle connections are cut", async () => {
      const store = await harness.open();
      await store.read((tx) => tx.ledger.size());
      await harness.raw(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid()`,
      );
      // The next use may still meet the dead connection; the one after that has a new one.
      await store
        .read((tx) => tx.ledger.size())
        .catch((thrown: unknown) => {
          expect(thrown).toMatchObject({ code: "STORE_UNAVAILABLE" });
        });
      expect(await store.read((tx) => tx.ledger.size())).toBe(0);
    });

    it("does not commit what the server gave up", async () => {
      const store = await harness.open();
      const attempt = store.transact(async (tx) => {
        await tx.notes.add("half");
        await tx.notes.sql("select 1 / 0").catch(() => undefined);
      });
      await expectCode(attempt, "INTERNAL");
      expect(await store.read((tx) => tx.notes.list())).toEqual([]);
    });

    it("does not call a transaction committed that the server answered with a rollback", async () => {
      const store = await harness.open();
      const query = pg.Client.prototype.query as (this: pg.Client, ...given: unknown[]) => Promise<unknown>;
      // Something between the store and the server, as a pooler is, lets a statement fail that the store never sent.
      const spy = vi.spyOn(pg.Client.prototype, "query").mockImplementation(async function (
        this: pg.Client,
        ...given: unknown[]
      ) {
        if (given[0] === "commit") await query.call(this, "select 1 / 0").catch(() => undefined);
        return query.apply(this, given);
      } as never);
      try {
        const lost = store.transact((tx) => tx.notes.add("lost"));
        await expect(lost).rejects.toMatchObject({ code: "INTERNAL", message: expect.stringContaining("ROLLBACK") });
      } finally {
        spy.mockRestore();
      }
      expect(await store.read((tx) => tx.notes.list())).toEqual([]);
      await store.transact((tx) => tx.notes.add("kept"));
      expect(await store.read((tx) => tx.notes.list())).toEqual(["kept"]);
    });

    it("answers callers who do not wait for each other on one connection", async () => {
      const store = await harness.open();
      const sizes = await store.read((tx) =>
        Promise.all(Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? tx.ledger.size() : tx.ledger.head("x")))),
      );
      expect(sizes).toEqual([0, null, 0, null, 0, null, 0, null, 0, null]);
    });

    it("refuses an integer that a number cannot hold", async () => {
      const store = await harness.open();
      const attempt = store.transact((tx) => tx.notes.sql("select 9007199254740993::bigint"));
      await expectCode(attempt, "INTERNAL");
    });

    it("refuses a store from the future and leaves it alone", async () => {
      await (await harness.open()).close();
      await harness.raw("insert into migration values (2000, 'later', '2030-01-01T00:00:00.000Z')");
      await expect(harness.open()).rejects.toMatchObject({
        code: "STORE_VERSION",
        message: "the store has version 2000; this Verbatim knows versions up to 1000",
        fix: "Use that version of Verbatim or a newer one.",
        details: { version: 2000, newest: 1000 },
      });
      const options = { ...fixedPorts(), url: harness.url, migrations: POSTGRES_WITH_NOTES };
      await expectCode(openPostgresStore(options), "STORE_VERSION");
    });

    it("is opened only where it was made, and opening creates and alters nothing", async () => {
      const options = { ...fixedPorts(), url: harness.url, migrations: POSTGRES_WITH_NOTES };
      const inDatabase = () =>
        harness.raw(`select nspname as name from pg_namespace where nspname = '${harness.schema}'
          union all select relname from pg_class where relnamespace::regnamespace::text = '${harness.schema}'
          union all select rolname from pg_roles where rolname like 'verbatim_writer_%' order by 1`);
      const before = await inDatabase();
      await expect(openPostgresStore(options)).rejects.toMatchObject({
        code: "STORE_VERSION",
        exit: 4,
        message: `there is no store in the schema ${harness.schema} of this database yet`,
        details: { version: 0, newest: 1000 },
      });
      expect(await inDatabase()).toEqual(before);
      await migratePostgres({ ...options, migrations: POSTGRES_WITH_NOTES.slice(0, 1) });
      const old = await inDatabase();
      await expect(openPostgresStore(options)).rejects.toMatchObject({
        code: "STORE_VERSION",
        message: "the store has version 1, and this Verbatim works with version 1000",
        fix: expect.stringContaining("verbatim store migrate"),
      });
      const planned = await migratePostgres({ ...options, dryRun: true });
      expect(planned.applied).toEqual([1]);
      expect(planned.missing.at(-1)?.version).toBe(1000);
      expect(planned.sql.join("\n")).toContain("create table");
      expect(await inDatabase()).toEqual(old);
      await migratePostgres(options);
      await (await openPostgresStore(options)).close();
      expect(await migratePostgres(options)).toMatchObject({ missing: [], sql: [] });
    });

    it("asks for nothing when a session starts and leaves nothing in it, so that a pooler may share sessions", async () => {
      await (await harness.open()).close();
      const folder = mkdtempSync(join(tmpdir(), "verbatim-pooler-"));
      const socket = `/.s.PGSQL.${new URL(harness.url).port || "5432"}`;
      const there = `${new URL(harness.url).searchParams.get("host")}${socket}`;
      const startups: string[] = [];
      const between = createServer((client) => {
        const server = connect(there);
        client.once("data", (bytes) => startups.push(bytes.toString("latin1")));
        client.pipe(server).pipe(client);
        for (const end of [client, server]) end.on("error", () => client.destroy());
      });
      await new Promise<void>((resolve) => void between.listen(`${folder}${socket}`, resolve));
      try {
        const url = harness.url.replace(/host=[^&]*/, `host=${encodeURIComponent(folder)}`);
        const store = await openPostgresStore({ ...fixedPorts(), url, migrations: POSTGRES_WITH_NOTES });
        await store.transact((tx) => tx.ledger.append("context", "next", [note("pooled")]));
        const hash = await store.content.put(new TextEncoder().encode("shared"));
        expect(await store.content.has(hash)).toBe(true);
        const left = await harness.raw(
          `select count(*)::int as n from pg_stat_activity a join pg_locks l on l.pid = a.pid
           where a.datname = current_database() and l.locktype = 'advisory'`,
        );
        expect(left).toEqual([{ n: 0 }]);
        await store.close();
      } finally {
        between.close();
        rmSync(folder, { recursive: true });
      }
      // Looking at the schema, a transaction, payloads.
      expect(startups.length).toBeGreaterThanOrEqual(3);
      for (const startup of startups) {
        expect(startup).toContain("\0user\0");
        expect(startup).not.toMatch(/\0(?:options|search_path|role)\0/);
      }
    });

    it("refuses a schema of another program", async () => {
      await harness.raw(`create schema ${harness.schema}`);
      await harness.raw("create table migration (name text)");
      await expectCode(harness.open(), "STORE_CORRUPT");
      expect(await harness.raw("select count(*)::int as n from pg_tables where schemaname = current_schema()")).toEqual(
        [{ n: 1 }],
      );
    });

    it("works for a user who may not make roles, and says so", async () => {
      const user = `clerk_${harness.schema}`;
      await harness.raw(`create user ${user}`);
      await harness.raw(
        `do $$ begin execute 'grant create on database ' || current_database() || ' to ${user}'; end $$`,
      );
      const url = harness.url.replace("postgres://postgres@", `postgres://${user}@`);
      await migratePostgres({ ...fixedPorts(), url, migrations: POSTGRES_WITH_NOTES });
      const store = await openPostgresStore({ ...fixedPorts(), url, migrations: POSTGRES_WITH_NOTES });
      const facts = await store.facts();
      expect(facts.role).toBeNull();
      expect(facts.role_missing_because).toContain("only triggers protect the ledger");
      const [entry] = await store.transact((tx) => tx.ledger.append("context", "next", [note("a clerk's")]));
      expect(entry?.position).toBe(0);
      await store.close();
      const again = await openPostgresStore({ ...fixedPorts(), url, migrations: POSTGRES_WITH_NOTES });
      expect((await again.facts()).role).toBeNull();
      await again.close();
    });

    it("takes on its role for a user who is no superuser but may make roles", async () => {
      const user = `steward_${harness.schema}`;
      await harness.raw(`create user ${user} createrole`);
      await harness.raw(
        `do $$ begin execute 'grant create on database ' || current_database() || ' to ${user}'; end $$`,
      );
      const url = harness.url.replace("postgres://postgres@", `postgres://${user}@`);
      await migratePostgres({ ...fixedPorts(), url, migrations: POSTGRES_WITH_NOTES });
      const store = await openPostgresStore({ ...fixedPorts(), url, migrations: POSTGRES_WITH_NOTES });
      expect((await store.facts()).role).toMatch(/^verbatim_writer_/);
      await store.transact((tx) => tx.ledger.append("context", "next", [note("a steward's")]));
      await store.close();
    });

    it("works for an unprivileged user whom an administrator gave the role", async () => {
      const admin = await harness.open();
      const { role } = await admin.facts();
      const user = `keeper_${harness.schema}`;
      await harness.raw(`create user ${user}`);
      await harness.raw(`grant ${role} to ${user}`);
      await harness.raw(`grant usage on schema ${harness.schema} to ${user}`);
      await harness.raw(`grant select on ${harness.schema}.migration to ${user}`);
      const asKeeper = harness.url.replace("postgres://postgres@", `postgres://${user}@`);
      const before = openPostgresStore({ ...fixedPorts(), url: asKeeper, migrations: POSTGRES_WITH_NOTES });
      await expectCode(before, "WORKSPACE_UNKNOWN");
      await harness.raw(`insert into access_login select '${user}', id from workspace`);
      const url = harness.url.replace("postgres://postgres@", `postgres://${user}@`);
      const store = await openPostgresStore({ ...fixedPorts(), url, migrations: POSTGRES_WITH_NOTES });
      expect((await store.facts()).role).toBe(role);
      await store.transact((tx) => tx.ledger.append("context", "next", [note("kept")]));
      await store.close();
      expect(await admin.read((tx) => tx.ledger.size())).toBe(1);
    });

    it("is made once when twenty programs migrate a fresh database at once", async () => {
      const stores = await Promise.all(Array.from({ length: 20 }, () => harness.open()));
      const ids = await Promise.all(stores.map((store) => store.read((tx) => tx.ledger.ledgerId())));
      expect(new Set(ids).size).toBe(1);
    });
  });

  it.each([
    ["no server", (url: string) => url.replace(/host=[^&]*/, "host=%2Fnowhere")],
    ["no such database", (url: string) => url.replace(/localhost\/\w+/, "localhost/no_such_database")],
    ["no such user", (url: string) => url.replace("postgres@", "nobody_of_that_name@")],
  ])("says STORE_UNAVAILABLE when there is %s", async (_, change) => {
    const url = change(database.url);
    await expectCode(openPostgresStore({ ...fixedPorts(), url }), "STORE_UNAVAILABLE");
  });

  it("keeps the password out of what it says", async () => {
    const url = `postgres://postgres:secret@localhost/none?host=%2Fnowhere`;
    const thrown: unknown = await openPostgresStore({ ...fixedPorts(), url }).catch((error: unknown) => error);
    expect(thrown).toMatchObject({ code: "STORE_UNAVAILABLE", where: "postgres postgres@/nowhere:5432/none" });
    expect(JSON.stringify([thrown, String((thrown as Error).cause)])).not.toContain("secret");
  });
});
