// `verbatim store`: the database behind it all, looked at and brought up to date by whoever looks after it.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runHere } from "../support/cli-in-process.ts";
import { needs } from "../support/needs.ts";
import { type TestDatabase, usePostgres } from "../support/postgres.ts";

const postgres = await usePostgres();
const folder = mkdtempSync(join(tmpdir(), "verbatim-store-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Check {
  readonly name: string;
  readonly status: string;
  readonly message: string;
  readonly fix: string | null;
}

const verbatim = (url: string, ...args: string[]) =>
  runHere(args, { cwd: folder, env: { ...process.env, VERBATIM_DATABASE_URL: url } });

describe("a store in a file", () => {
  it("has a status, and nothing is made by asking", async () => {
    const asked = await verbatim("", "store", "status", "--json");
    expect(asked.exit).toBe(0);
    expect(JSON.parse(asked.stdout).checks).toEqual([
      { name: "database", status: "ok", message: "no store yet: it is created when it is first needed", fix: null },
    ]);
    expect(existsSync(join(folder, ".verbatim"))).toBe(false);
  });

  it("is not migrated by hand: DATABASE_NOT_SET", async () => {
    const { exit: code, stderr } = await verbatim("", "store", "migrate");
    expect(code).toBe(2);
    expect(stderr).toContain("DATABASE_NOT_SET");
    expect(stderr).toContain("VERBATIM_DATABASE_URL");
  });

  it("counts what it holds once there is something", async () => {
    expect((await verbatim("", "index", "build")).exit).toBe(0);
    const { checks } = JSON.parse((await verbatim("", "store", "status", "--json")).stdout) as { checks: Check[] };
    expect(checks.map(({ name, status }) => [name, status])).toEqual([
      ["database", "ok"],
      ["schema", "ok"],
      ["ledger", "ok"],
      ["space", "ok"],
    ]);
    expect(checks[2]!.message).toMatch(/^[1-9]\d* entr(y|ies)$/);
    expect(checks[3]!.message).toMatch(/^[\d.]+ (kB|MB)$/);
    rmSync(join(folder, ".verbatim"), { recursive: true });
  });
});

describe("a team's database", needs(postgres.reason), () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await postgres.createDatabase({ empty: true });
  });
  afterAll(() => database.drop());

  async function tables(): Promise<number> {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      const { rows } = await client.query<{ n: number }>(
        "select count(*)::int as n from pg_tables where schemaname = 'verbatim'",
      );
      return rows[0]!.n;
    } finally {
      await client.end();
    }
  }

  it("is changed by `store migrate` and by nothing else", async () => {
    for (const [args, exit, says] of [
      [["store", "status"], 1, "there is no store in verbatim yet"],
      [["doctor"], 1, "STORE_VERSION"],
      [["ledger", "verify"], 4, "STORE_VERSION"],
      [["index", "build"], 4, "verbatim store migrate"],
      [["store", "migrate", "--dry-run"], 0, "create table verbatim.ledger_entry"],
    ] as const) {
      const { exit: code, stdout, stderr } = await verbatim(database.url, ...args);
      expect([args, code]).toEqual([args, exit]);
      expect(stdout + stderr).toContain(says);
      expect([args, await tables()]).toEqual([args, 0]);
    }
    const done = await verbatim(database.url, "store", "migrate");
    expect(done.exit).toBe(0);
    expect(done.stdout).toMatch(/^migrated postgres .* to version \d+ \(had no store\): ledger, context, jobs, /);
    expect(await tables()).toBeGreaterThan(10);
    const again = await verbatim(database.url, "store", "migrate");
    expect(again.stderr).toBe("");
    expect(again.stdout).toMatch(/ has version \d+: nothing to do\n$/);
    const { ok, checks } = JSON.parse((await verbatim(database.url, "store", "status", "--json")).stdout);
    expect(ok).toBe(true);
    const byName = Object.fromEntries((checks as Check[]).map((check) => [check.name, check]));
    expect(byName["roles"]!.message).toMatch(/^verbatim_writer_\w+ cannot change the ledger: tried$/);
    expect(byName["ledger"]!.message).toBe("0 entries");
    expect(byName["space"]!.message).toMatch(/^ledger \d+ kB, payloads \d+(\.\d)? kB, index \d+ kB, rest \d+ kB$/);
  });

  it("gets more workspaces by name, and says so", async () => {
    const made = await verbatim(database.url, "workspace", "add", "quay");
    expect([made.exit, made.stdout]).toEqual([
      0,
      expect.stringMatching(/^workspace quay added: [0-9a-f-]{36} in postgres /),
    ]);
    expect((await verbatim(database.url, "workspace", "add", "quay")).stdout).toContain("is there already");
    expect((await verbatim(database.url, "workspace", "add", "Quay!")).exit).toBe(2);
    expect((await verbatim("", "workspace", "add", "quay")).stderr).toContain("DATABASE_NOT_SET");
    const unnamed = await verbatim(database.url, "ledger", "show");
    expect([unnamed.exit, unnamed.stderr]).toEqual([2, expect.stringContaining("WORKSPACE_NOT_SET")]);
    const env = { ...process.env, VERBATIM_DATABASE_URL: database.url, VERBATIM_WORKSPACE: "quay" };
    expect((await runHere(["ledger", "verify"], { cwd: folder, env })).exit).toBe(0);
  });

  it("whose login may change the ledger is warned about", async () => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      const { rows } = await client.query<{ rolname: string }>(
        "select r.rolname from pg_roles r where r.rolname like 'verbatim_writer_%' and has_schema_privilege(r.oid, 'verbatim', 'usage')",
      );
      const role = rows[0]!.rolname;
      await client.query(`grant update on verbatim.ledger_entry to ${role}`);
      const asked = await verbatim(database.url, "store", "status");
      expect(asked.exit).toBe(0);
      expect(asked.stdout).toContain(`warn  roles        ${role} may change the ledger; only triggers protect it`);
      await client.query(`revoke update on verbatim.ledger_entry from ${role}`);
    } finally {
      await client.end();
    }
  });
});
