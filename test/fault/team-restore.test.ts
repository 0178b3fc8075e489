// Guards: a backup taken while a job is half done brings back records and queue of one moment; the job goes on under a name of
// its own, whatever happened to its branch after the backup, and a backup that is not what it says is refused.
import { spawnSync } from "node:child_process";
import { appendFileSync, cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildChild, type ChildProgram } from "../support/child.ts";
import { runHere } from "../support/cli-in-process.ts";
import { needs } from "../support/needs.ts";
import { type TestDatabase, usePostgres } from "../support/postgres.ts";
import { createTeam, type Team } from "../support/team.ts";

const postgres = await usePostgres();
const hasDump = spawnSync("pg_dump", ["--version"]).status === 0;
const reason = postgres.reason ?? (hasDump ? null : "there is no pg_dump on this machine");

describe("a backup of a team's database", needs(reason), () => {
  let team: Team;
  let program: ChildProgram;
  let empty: TestDatabase;
  let backup: string;

  beforeAll(async () => {
    [team, program, empty] = await Promise.all([
      createTeam(postgres),
      buildChild("test/fault/children/team-worker.ts"),
      postgres.createDatabase({ empty: true }),
    ]);
    backup = join(team.folder, "backup");
  }, 300_000);

  afterAll(async () => {
    program?.remove();
    await empty?.drop();
    await team?.destroy();
  });

  const there = (...args: string[]) =>
    runHere(args, { cwd: team.checkout, env: { ...team.env, VERBATIM_DATABASE_URL: empty.url } });
  const ask = async (sql: string, ...values: unknown[]) => {
    const client = new pg.Client({ connectionString: empty.url });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(sql, values)).rows;
    } finally {
      await client.end();
    }
  };

  it("taken in the middle of a job is gone on from, beside whatever came after it", { timeout: 300_000 }, async () => {
    const job = await team.postWrites("two tides", ["high", "slack"]);
    const child = program.start([team.checkout, "before-push", "2"], { env: team.env });
    expect((await child.ended).signal).toBe("SIGKILL");
    const said = JSON.parse(await team.must("store", "backup", "--out", backup, "--json")) as {
      ledgers: { tree_size: number; root_hash: string }[];
    };
    const verified = JSON.parse(await team.must("ledger", "verify", "--json")) as {
      entries: number;
      root_hash: string;
    };
    expect([said.ledgers[0]!.tree_size, said.ledgers[0]!.root_hash]).toEqual([verified.entries, verified.root_hash]);
    expect((await team.verbatim("store", "backup", "--out", backup)).stderr).toContain("FILE_EXISTS");
    // What the backup does not know: the job is ended, and another one is made.
    await team.must("worker", "--once");
    const late = await team.postWrites("a late tide", ["neap"]);
    await team.must("worker", "--once");
    const before = team.git(team.remote, "for-each-ref", "--format=%(refname) %(objectname)", "refs/verbatim");

    const restored = await there("store", "restore", backup);
    expect([restored.exit, restored.stderr]).toEqual([0, expect.anything()]);
    expect(restored.stdout).toContain("1 job, run or merge to go on");
    expect(restored.stdout).toContain(late);
    expect((await there("ledger", "verify")).exit).toBe(0);
    expect((await there("job", "status", late)).stderr).toContain("JOB_UNKNOWN");
    expect((await there("worker", "--once")).exit).toBe(0);
    const rows = await ask("select receipt from verbatim.jobs_receipt where job_id = $1 order by ordinal", job);
    const results = rows.map(
      ({ receipt }) =>
        (JSON.parse(String(receipt)) as { actions: { result: { commit: string; ref: string } }[] }).actions[0]!.result,
    );
    expect(results).toHaveLength(2);
    const [first, second] = results as [{ commit: string; ref: string }, { commit: string; ref: string }];
    expect(second.ref).not.toBe(first.ref);
    expect(team.git(team.remote, "rev-parse", second.ref, `${second.ref}^`)).toBe(`${second.commit}\n${first.commit}`);
    expect(team.git(team.remote, "show", `${second.ref}:tide.md`)).toBe("# Tide\nslack");
    // What was there before is left alone.
    const now = team.git(team.remote, "for-each-ref", "--format=%(refname) %(objectname)", "refs/verbatim").split("\n");
    expect(now).toEqual(expect.arrayContaining(before.split("\n")));
    expect(now).toHaveLength(before.split("\n").length + 1);
    const audit = await ask(
      "select kind from verbatim.ledger_entry where stream = 'audit' order by position desc limit 1",
    );
    expect(audit).toEqual([{ kind: "RESTORED" }]);
    expect((await there("store", "restore", backup)).stderr).toContain("STORE_NOT_EMPTY");
  });

  it("that is not what it says is refused, and leaves the database empty", { timeout: 300_000 }, async () => {
    const other = await postgres.createDatabase({ empty: true });
    const env = { ...team.env, VERBATIM_DATABASE_URL: other.url };
    const restore = (folder: string) => runHere(["store", "restore", folder], { cwd: team.checkout, env });
    try {
      const changed = join(team.folder, "changed");
      cpSync(backup, changed, { recursive: true });
      const facts = readFileSync(join(backup, "BACKUP.json"), "utf8");
      const refused = { exit: 1, stderr: expect.stringContaining("BACKUP_INVALID") };
      writeFileSync(join(changed, "BACKUP.json"), facts.replace(/"root_hash":"../, '"root_hash":"00'));
      expect(await restore(changed)).toMatchObject(refused);
      writeFileSync(join(changed, "BACKUP.json"), facts);
      appendFileSync(join(changed, "database.dump"), "x");
      expect(await restore(changed)).toMatchObject(refused);
      writeFileSync(join(changed, "BACKUP.json"), "{}");
      expect(await restore(changed)).toMatchObject(refused);
      const client = new pg.Client({ connectionString: other.url });
      await client.connect();
      const { rows } = await client.query("select nspname from pg_namespace where nspname like 'verbatim%'");
      await client.end();
      expect(rows).toEqual([]);
      const missing = await runHere(["store", "backup", "--out", "b"], { cwd: team.checkout, env });
      expect(missing.stderr).toContain("STORE_VERSION");
    } finally {
      await other.drop();
    }
    const path = process.env["PATH"];
    try {
      process.env["PATH"] = join(team.folder, "nowhere");
      expect((await team.verbatim("store", "backup", "--out", "b")).stderr).toContain("BACKUP_FAILED");
    } finally {
      process.env["PATH"] = path;
    }
  });
});
