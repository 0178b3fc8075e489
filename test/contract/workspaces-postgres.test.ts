import { randomUUID } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import { CONTROL_TABLES } from "../../src/adapters/sql/postgres/migrations/0014-workspaces.ts";
import { openPostgresStore, type PostgresStore } from "../../src/adapters/sql/postgres/store.ts";
import { addWorkspace } from "../../src/adapters/sql/postgres/workspaces.ts";
import { expectUnbrokenChain } from "../support/chain.ts";
import { needs } from "../support/needs.ts";
import { type TestDatabase, usePostgres } from "../support/postgres.ts";

const postgres = await usePostgres();
const ids = { uuid: () => randomUUID() };
const note = (text: string) => ({ kind: "NOTE_ADDED", actor: "cli", body: { text } });

describe("workspaces of one database", needs(postgres.reason), () => {
  let database: TestDatabase;
  let login = "";
  let asLogin = "";
  const stores: PostgresStore<Record<never, never>>[] = [];

  beforeAll(async () => {
    database = await postgres.createDatabase();
    await addWorkspace({ url: database.url, name: "quay", logins: [], ids });
    login = `porter_${randomUUID().slice(0, 8)}`;
    asLogin = database.url.replace("postgres://postgres@", `postgres://${login}@`);
    await asOwner(`create role ${login} login`);
    const [role] = await asOwner(`select rolname from pg_roles where rolname like 'verbatim_writer_%'
      and has_schema_privilege(oid, 'verbatim', 'usage') limit 1`);
    await asOwner(
      `grant ${String(role!["rolname"])} to ${login}`,
      `grant usage on schema verbatim to ${login}`,
      `grant select on verbatim.migration to ${login}`,
      `insert into verbatim.access_login select '${login}', id from verbatim.workspace where name = 'main'`,
    );
  });

  afterAll(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await database?.drop();
  });

  async function open(workspace: string | undefined, url = database.url, clock = { now: () => Date.now() }) {
    const store = await openPostgresStore({ url, crypto: nodeCrypto, clock, ids, workspace, serverTime: true });
    stores.push(store);
    return store;
  }

  async function ask(url: string, sql: readonly string[]): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      for (const one of sql.slice(0, -1)) await client.query(one);
      return (await client.query<Record<string, unknown>>(sql.at(-1)!)).rows;
    } finally {
      await client.end();
    }
  }

  const asOwner = (...sql: string[]) => ask(database.url, sql);

  it("have a ledger each: the same stream, positions and payloads in both, and none sees the other's", async () => {
    const [main, quay] = [await open("main"), await open("quay")];
    for (const text of ["The lamp was lit.", "The boats were counted."]) {
      await main.transact(({ ledger }) => ledger.append("context", "next", [note(text)]));
    }
    await quay.transact(({ ledger }) => ledger.append("context", 0, [note("A crane came.")]));
    const hash = await main.content.put(new TextEncoder().encode("only in main"));
    expect(await quay.content.has(hash)).toBe(false);
    await expect(quay.content.get(hash)).rejects.toMatchObject({ code: "CONTENT_STORE_CORRUPT" });
    const look = (store: typeof main) =>
      store.read(async ({ ledger }) => ({
        id: await ledger.ledgerId(),
        size: await ledger.size(),
        bodies: (await ledger.readAll(0, 10)).map(({ entry }) => entry.body),
        first: (await ledger.readHashes(0, 1))[0]!,
      }));
    const [inMain, inQuay] = [await look(main), await look(quay)];
    expect(inMain.bodies).toEqual(['{"text":"The lamp was lit."}', '{"text":"The boats were counted."}']);
    expect(inQuay.bodies).toEqual(['{"text":"A crane came."}']);
    expect([inMain.size, inQuay.size]).toEqual([2, 1]);
    expect(inMain.id).toBe((await main.facts()).workspace_id);
    expect(inQuay.id).not.toBe(inMain.id);
    expect(await quay.read(({ ledger }) => ledger.findByHash(inMain.first))).toBeNull();
    expectUnbrokenChain(await main.read(({ ledger }) => ledger.readStream("context", 0, 10)));
  });

  it("divide every table: the workspace leads every key, and row-level security is forced", async () => {
    const rows = await asOwner(`select c.relname as name, c.relrowsecurity and c.relforcerowsecurity as forced,
        (select count(*)::int from pg_policy p where p.polrelid = c.oid) as policies,
        (select count(*)::int from pg_index i where i.indrelid = c.oid and i.indisunique
          and (select a.attname from pg_attribute a where a.attrelid = c.oid and a.attnum = i.indkey[0]) <> 'workspace_id') as wide
      from pg_class c where c.relnamespace = 'verbatim'::regnamespace and c.relkind = 'r' order by 1`);
    const divided = rows.filter(({ name }) => !CONTROL_TABLES.some((one) => one === name));
    expect(divided.length).toBeGreaterThan(25);
    expect(divided.filter(({ forced, policies, wide }) => forced !== true || policies !== 1 || wide !== 0)).toEqual([]);
  });

  it("are closed to a login that was not given them, whatever it writes into the setting", async () => {
    await expect(open("quay", asLogin)).rejects.toMatchObject({ code: "WORKSPACE_UNKNOWN", exit: 2 });
    const own = await open(undefined, asLogin);
    expect((await own.facts()).workspace).toBe("main");
    expect(await own.read(({ ledger }) => ledger.size())).toBe(2);
    const [quay] = await asOwner("select id from verbatim.workspace where name = 'quay'");
    const role = (await own.facts()).role!;
    const forged = [
      `set role ${role}`,
      `set verbatim.workspace = '${String(quay!["id"])}'`,
      "set search_path = verbatim",
    ];
    const insert = `insert into ledger_entry (stream, position, previous, kind, time, actor, body_hash, hash, body) values
      ('x', 0, '${"0".repeat(64)}', 'K', '2026-01-01T00:00:00.000Z', 'a', '${"1".repeat(64)}', '${"2".repeat(64)}', 'b')`;
    for (const attack of [
      "select count(*) from ledger_entry",
      "select bytes from content",
      "delete from context_symbol",
      "update jobs_step set status = 'FAILED'",
      insert,
      `insert into access_login values ('${login}', '${String(quay!["id"])}')`,
      "select * from access_login",
      "select * from workspace",
    ]) {
      expect([attack, await refusal(ask(asLogin, [...forged, attack]))]).toEqual([attack, "42501"]);
    }
    // Without a workspace there is an error as well, never rows.
    const bare = [`set role ${role}`, "set search_path = verbatim", "select count(*) from ledger_entry"];
    expect(await refusal(ask(asLogin, bare))).toBe("42501");
    // And a row cannot be given to another workspace than the one of the transaction.
    const main = [`set verbatim.workspace = '${(await own.facts()).workspace_id}'`, `set role ${role}`];
    const given = `insert into verbatim.content (workspace_id, hash, bytes, stored_ms)
      values ('${String(quay!["id"])}', '${"3".repeat(64)}', '', 0)`;
    expect(await refusal(ask(asLogin, [...main, given]))).toBe("42501");
  });

  it("have to be named by a login that works in several", async () => {
    await expect(open(undefined)).rejects.toMatchObject({
      code: "WORKSPACE_NOT_SET",
      details: { workspaces: ["main", "quay"] },
    });
    await expect(open("pier")).rejects.toMatchObject({ code: "WORKSPACE_UNKNOWN" });
  });

  it("are made by the owner of the schema and by nobody else, once", async () => {
    await expect(addWorkspace({ url: asLogin, name: "pier", logins: [], ids })).rejects.toMatchObject({
      code: "STORE_REFUSED",
    });
    await expect(addWorkspace({ url: database.url, name: "pier", logins: ["nobody_here"], ids })).rejects.toMatchObject(
      {
        code: "LOGIN_UNKNOWN",
      },
    );
    const made = await Promise.all(
      [1, 2, 3].map(() => addWorkspace({ url: database.url, name: "pier", logins: [login], ids })),
    );
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    expect(made.filter(({ existing }) => !existing)).toHaveLength(1);
    expect(made[0]!.logins).toContain(login);
    expect((await (await open("pier", asLogin)).facts()).workspace_id).toBe(made[0]!.id);
  });

  it("refuse a login for which row-level security does not hold", async () => {
    const strong = `strong_${randomUUID().slice(0, 8)}`;
    await asOwner(
      `create role ${strong} login bypassrls`,
      `grant usage on schema verbatim to ${strong}`,
      `grant select on verbatim.migration to ${strong}`,
      `insert into verbatim.access_login select '${strong}', id from verbatim.workspace`,
    );
    const url = database.url.replace("postgres://postgres@", `postgres://${strong}@`);
    await expect(open("main", url)).rejects.toMatchObject({ code: "STORE_UNGUARDED", exit: 2 });
  });

  it("take the time of entries from the server, and it never runs backwards in a stream", async () => {
    const hour = 3_600_000;
    const [early, late] = [
      await open("main", database.url, { now: () => Date.now() - hour }),
      await open("main", database.url, { now: () => Date.now() + hour }),
    ];
    for (const store of [late, early, late, early]) {
      await store.transact(({ ledger }) => ledger.append("clocks", "next", [note("tick")]));
    }
    const times = (await early.read(({ ledger }) => ledger.readStream("clocks", 0, 10))).map(({ time }) => time);
    expect(times).toEqual(times.toSorted());
    expect(Math.abs(Date.parse(times[0]!) - Date.now())).toBeLessThan(hour / 2);
  });
});

async function refusal(asked: Promise<unknown>): Promise<string> {
  return asked.then(
    (rows) => `answered ${JSON.stringify(rows)}`,
    (thrown: unknown) => String((thrown as { code?: unknown }).code),
  );
}
