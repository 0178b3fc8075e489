// Guards: a store of one machine becomes a workspace of a team with the same entries, hashes and payloads, is gone on from
// there, and is refused as a whole where anything about it does not hold.
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runHere } from "../support/cli-in-process.ts";
import { needs } from "../support/needs.ts";
import { type TestDatabase, usePostgres } from "../support/postgres.ts";
import { DatabaseSync } from "../support/raw-sqlite.ts";

const postgres = await usePostgres();
const BUDGETS = { max_symbols: 9, max_sections: 9, max_bytes_expanded: 9999, max_expands_per_step: 9 };

describe("a store of one machine", needs(postgres.reason), () => {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-import-test-"));
  const checkout = join(folder, "harbour");
  const file = join(checkout, ".verbatim", "state", "store.db");
  let database: TestDatabase;
  let job: string;

  const env = { PATH: process.env["PATH"] ?? "", HOME: folder, XDG_STATE_HOME: join(folder, "state") };
  const here = (...args: string[]) => runHere(args, { cwd: checkout, env });
  const there = (...args: string[]) =>
    runHere(args, {
      cwd: checkout,
      env: { ...env, VERBATIM_DATABASE_URL: database.url, VERBATIM_WORKSPACE: "harbour" },
    });
  const must = async (said: ReturnType<typeof runHere>) => {
    const { exit, stdout, stderr } = await said;
    expect([exit, exit === 0 ? "" : stderr]).toEqual([0, ""]);
    return stdout;
  };
  const postRead = (intent: string, line: number) => {
    const ops = [{ type: "READ", target: "@HARBOUR/BOATS", params: { slice: `lines[${line}:${line + 1}]` } }];
    const message = { intent, refs: ["@HARBOUR/BOATS"], ops, budgets: BUDGETS, required_outputs: [] };
    writeFileSync(join(folder, "message.json"), JSON.stringify(message));
    return join(folder, "message.json");
  };

  beforeAll(async () => {
    database = await postgres.createDatabase({ empty: true });
    mkdirSync(checkout);
    writeFileSync(join(checkout, "verbatim.config.json"), '{"context":{"sources":["*.md"]}}');
    writeFileSync(join(checkout, "boats.md"), "# Boats\nthree\nfour\n");
    await must(here("index", "build"));
    await must(here("symbol", "add", "@HARBOUR/BOATS", "--file", "boats.md", "--slice", "head(1)"));
    for (const line of [0, 1]) {
      const posted = await must(here("job", "submit", postRead(`watch ${line}`, line), "--json"));
      job = (JSON.parse(posted) as { job_id: string }).job_id;
    }
    await must(here("world", "new", "Harbour", "--person", "ANA=Ana"));
    await must(there("store", "migrate", "--workspace", "other"));
  });

  afterAll(async () => {
    await database?.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  const workspaces = async () => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const { rows } = await client.query<{ name: string }>("select name from verbatim.workspace order by name");
    await client.end();
    return rows.map(({ name }) => name);
  };
  const bring = (from: string) => there("store", "import", from, "--workspace", "harbour");

  it("is not brought into a database while jobs are open, damaged or absent, and nothing of it stays there", async () => {
    expect(await bring(join(folder, "nowhere.db"))).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("FILE_NOT_FOUND"),
    });
    const copies = join(folder, "copies");
    cpSync(join(checkout, ".verbatim", "state"), copies, { recursive: true });
    const copy = join(copies, "store.db");
    await must(here("store", "status"));
    const open = JSON.parse(await must(here("job", "post", postRead("later", 2), "--json"))) as { job_id: string };
    expect(await bring(file)).toMatchObject({ exit: 1, stderr: expect.stringContaining("JOBS_OPEN") });
    await must(here("job", "cancel", open.job_id));
    const raw = new DatabaseSync(copy);
    for (const row of raw.prepare("select name from sqlite_master where type = 'trigger'").all())
      raw.exec(`drop trigger "${(row as { name: string }).name}"`);
    raw.exec("update ledger_entry set body = replace(body, 'BOATS', 'BOATZ') where kind = 'SYMBOL_ADDED'");
    raw.close();
    expect(await bring(copy)).toMatchObject({ exit: 1, stderr: expect.stringContaining("STORE_CORRUPT") });
    expect(await workspaces()).toEqual(["other"]);
  });

  it("is there afterwards with the same ledger, receipts, payloads and worlds, and is gone on from", async () => {
    const before = JSON.parse(await must(here("ledger", "verify", "--json"))) as { root_hash: string; entries: number };
    const bytes = readFileSync(file);
    const said = JSON.parse(await must(there("store", "import", file, "--workspace", "harbour", "--json"))) as Record<
      string,
      unknown
    >;
    expect([said["root_hash"], said["tree_size"]]).toEqual([before.root_hash, before.entries]);
    expect(readFileSync(file).equals(bytes)).toBe(true);
    // One entry says that it was imported; everything before it is as it was.
    const after = JSON.parse(await must(there("ledger", "verify", "--json"))) as { entries: number };
    expect(after.entries).toBe(before.entries + 1);
    for (const words of [
      ["job", "receipts", job, "--json"],
      ["symbol", "list", "--json"],
      ["world", "list", "--json"],
      ["section", "list", "--json"],
      ["ledger", "export", "--stream", `job/${job}`],
    ]) {
      expect([words, await must(there(...words))]).toEqual([words, await must(here(...words))]);
    }
    const status = JSON.parse(await must(there("job", "status", job, "--json"))) as { state: string };
    expect(status.state).toBe("SUCCEEDED");
    const out = join(folder, "bundle");
    await must(there("bundle", "build", job, "--out", out));
    expect(readdirSync(join(out, "artifacts")).length).toBeGreaterThan(0);
    const audit = await must(there("ledger", "show", "--stream", "audit", "--json"));
    expect(audit).toContain("IMPORTED");
    const posted = JSON.parse(await must(there("job", "post", postRead("go on", 1), "--json"))) as { job_id: string };
    await must(there("worker", "--once"));
    const ended = JSON.parse(await must(there("job", "status", posted.job_id, "--json"))) as { state: string };
    expect(ended.state).toBe("SUCCEEDED");
    await must(there("index", "build"));
  });

  it("comes once: WORKSPACE_EXISTS", async () => {
    const again = await there("store", "import", file, "--workspace", "harbour2");
    expect([again.exit, again.stderr]).toEqual([2, expect.stringContaining("WORKSPACE_EXISTS")]);
    const other = join(folder, "other.db");
    copyFileSync(file, other);
    expect((await there("store", "import", other, "--workspace", "other")).stderr).toContain("WORKSPACE_EXISTS");
    expect((await here("store", "import", file, "--workspace", "x1")).stderr).toContain("DATABASE_NOT_SET");
    expect(await workspaces()).toEqual(["harbour", "other"]);
  });
});
