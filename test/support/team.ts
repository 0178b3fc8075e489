import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { runHere } from "./cli-in-process.ts";
import type { TestPostgres } from "./postgres.ts";

const GIT = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };

/** A team as people set one up: a migrated database, a bare repository as the remote, and a checkout of it. */
export async function createTeam(postgres: TestPostgres) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-team-")));
  const database = await postgres.createDatabase({ empty: true });
  const checkout = join(folder, "checkout");
  const remote = join(folder, "remote.git");
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: folder,
    XDG_STATE_HOME: join(folder, "state"),
    XDG_CONFIG_HOME: join(folder, "config"),
    VERBATIM_DATABASE_URL: database.url,
    VERBATIM_GIT_PATHS: "1",
  };
  const git = (cwd: string, ...args: string[]): string => {
    const { status, stdout, stderr } = spawnSync("git", args, { cwd, env: GIT, encoding: "utf8" });
    if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
    return stdout.trim();
  };
  const verbatim = (...args: string[]) => runHere(args, { cwd: checkout, env });
  const must = async (...args: string[]) => {
    const said = await verbatim(...args);
    if (said.exit !== 0) throw new Error(`${args.join(" ")}: ${said.stdout}${said.stderr}`);
    return said.stdout;
  };
  const push = () => {
    git(checkout, "add", "-A");
    git(checkout, "-c", "user.name=Mira", "-c", "user.email=mira@example.org", "commit", "-q", "-m", "harbour");
    git(checkout, "push", "-q", "origin", "HEAD:main");
  };
  mkdirSync(checkout);
  git(folder, "init", "-q", "--bare", "-b", "main", remote);
  git(checkout, "init", "-q", "-b", "main");
  git(checkout, "remote", "add", "origin", remote);
  writeFileSync(join(checkout, "verbatim.config.json"), '{"context":{"sources":["*.md","*.json"]}}');
  writeFileSync(join(checkout, "tide.md"), "# Tide\nlow\n");
  writeFileSync(join(checkout, "boats.md"), "# Boats\nthree\n");
  push();
  await must("store", "migrate");
  await must("repository", "add", "harbour", "--remote", remote);
  await must("index", "build");
  await must("symbol", "add", "@HARBOUR/TIDE", "--file", "tide.md", "--slice", "head(1)");
  await must("symbol", "add", "@HARBOUR/BOATS", "--file", "boats.md", "--slice", "head(1)");
  return {
    folder,
    checkout,
    remote,
    env,
    url: database.url,
    git,
    verbatim,
    must,
    push,
    /** Posts a message that replaces the last line of each file in turn, and gives the id of its job. */
    async postWrites(name: string, lines: readonly string[]): Promise<string> {
      const file = join(folder, `${name}.json`);
      let before = "low";
      const ops = lines.map((line) => {
        const patch = `diff --git a/tide.md b/tide.md\n--- a/tide.md\n+++ b/tide.md\n@@ -1,2 +1,2 @@\n # Tide\n-${before}\n+${line}\n`;
        before = line;
        return { type: "WRITE", target: "@HARBOUR/TIDE", params: { patch } };
      });
      writeFileSync(file, JSON.stringify(messageOf(name, ["@HARBOUR/TIDE"], ops)));
      return (JSON.parse(await must("job", "post", file, "--json")) as { job_id: string }).job_id;
    },
    /** Posts a message with one patch of a file that has a symbol. */
    async postPatch(name: string, path: string, hunk: string): Promise<string> {
      const file = join(folder, `${name}.json`);
      const patch = `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n${hunk}`;
      const ops = [{ type: "WRITE", target: "@HARBOUR/TIDE", params: { patch } }];
      writeFileSync(file, JSON.stringify(messageOf(name, ["@HARBOUR/TIDE"], ops)));
      return (JSON.parse(await must("job", "post", file, "--json")) as { job_id: string }).job_id;
    },
    async postReads(name: string): Promise<string> {
      const file = join(folder, `${name}.json`);
      const read = (slice: string) => ({ type: "READ", target: "@HARBOUR/BOATS", params: { slice } });
      const ops = [read("lines[0:1]"), read("lines[1:2]")];
      writeFileSync(file, JSON.stringify(messageOf(name, ["@HARBOUR/BOATS"], ops)));
      return (JSON.parse(await must("job", "post", file, "--json")) as { job_id: string }).job_id;
    },
    async sql(text: string, ...values: unknown[]): Promise<Record<string, unknown>[]> {
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      try {
        return (await client.query<Record<string, unknown>>(text, values)).rows;
      } finally {
        await client.end();
      }
    },
    async destroy() {
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type Team = Awaited<ReturnType<typeof createTeam>>;

function messageOf(intent: string, refs: readonly string[], ops: readonly object[]) {
  const budgets = { max_symbols: 99, max_sections: 99, max_bytes_expanded: 9999, max_expands_per_step: 9 };
  return { intent, refs, ops, budgets, required_outputs: [] };
}
