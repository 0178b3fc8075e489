import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { openApp } from "../src/app/call.ts";
import { findPostgres } from "../test/support/postgres-binaries.ts";
import { startPostgresServer } from "../test/support/postgres-server.ts";
import type { Took } from "./harness.ts";

const LOOK_MS = 10;
const BUDGETS = { max_symbols: 9e9, max_sections: 9e9, max_bytes_expanded: 9e9, max_expands_per_step: 9e9 };
const LINES = 4000;

/** Why there is no team here to measure. */
export function withoutPostgres(): string | null {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-bench-"));
  try {
    return findPostgres(folder) === null ? "there is no PostgreSQL on this machine" : null;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A database of a team with a checkout that posts to it; nothing in it is older than this process. */
export async function openTeam(root?: string) {
  const server = await startPostgresServer();
  if ("reason" in server) throw new Error(server.reason);
  const folder = mkdtempSync(join(tmpdir(), "verbatim-bench-team-"));
  const checkout = root ?? join(folder, "checkout");
  mkdirSync(checkout, { recursive: true });
  if (root === undefined) {
    writeFileSync(join(checkout, "verbatim.config.json"), '{"context":{"sources":["*.md"]}}');
    const lines = Array.from({ length: LINES }, (_, n) => `What line ${n} of the logbook says.`);
    writeFileSync(join(checkout, "log.md"), `# Log\n${lines.join("\n")}\n`);
  }
  const url = server.url("team");
  const admin = new pg.Client({ connectionString: server.url("postgres") });
  await admin.connect();
  await admin.query("create database team template template0");
  await admin.end();
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: folder,
    XDG_STATE_HOME: join(folder, "state"),
    XDG_CONFIG_HOME: join(folder, "config"),
    VERBATIM_DATABASE_URL: url,
    VERBATIM_GIT_PATHS: "1",
  };
  const open = (start = checkout) => openApp({ surface: "library", start, env, platform: process.platform });
  const app = open();
  await app.call("store.migrate", {});
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const sql = async (text: string, values: unknown[] = []) =>
    (await client.query<Record<string, unknown>>(text, values)).rows;
  return {
    app,
    open,
    env,
    url,
    folder,
    checkout,
    sql,
    async close() {
      await app.close();
      await client.end();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type BenchTeam = Awaited<ReturnType<typeof openTeam>>;

/** The index of the logbook and its name. */
export async function nameLog({ app }: BenchTeam): Promise<void> {
  await app.call("context.index-build", {});
  await app.call("context.symbol-add", { symbol_id: "@LOG/BOOK", file: "log.md", slice: "head(1)" });
}

let messages = 0;

export function messageOf(ops: readonly object[], refs: readonly string[] = ["@LOG/BOOK"]) {
  return { intent: `watch ${messages++}`, refs, ops, budgets: BUDGETS, required_outputs: [] };
}

/** Posts jobs of so many READ steps. */
export async function postReads({ app }: Pick<BenchTeam, "app">, jobs: number, steps: number): Promise<void> {
  for (let job = 0; job < jobs; job++) {
    const ops = Array.from({ length: steps }, (_, n) => {
      const line = (messages * steps + n) % LINES;
      return { type: "READ", target: "@LOG/BOOK", params: { slice: `lines[${line}:${line + 1}]` } };
    });
    await app.call("jobs.post", { message: messageOf(ops) });
  }
}

/** Worker processes that take jobs only while they may. */
export class Workers {
  readonly #team: BenchTeam;
  readonly #children: ChildProcess[] = [];

  private constructor(team: BenchTeam) {
    this.#team = team;
  }

  static async start(team: BenchTeam, count: number, env: Readonly<Record<string, string>> = {}): Promise<Workers> {
    const workers = new Workers(team);
    const file = fileURLToPath(new URL("../team-worker.js", import.meta.url));
    for (let n = 0; n < count; n++) {
      const child = spawn(process.execPath, [file, team.checkout], {
        env: { ...team.env, ...env },
        stdio: ["pipe", "pipe", "inherit"],
      });
      workers.#children.push(child);
    }
    await Promise.all(workers.#children.map((child) => once(createInterface({ input: child.stdout! }), "line")));
    return workers;
  }

  /** Lets so many of them work until nothing is open, and says how long that took by the server's clock. */
  async run(count: number): Promise<Took> {
    const [{ ms: begun } = { ms: 0 }] = await this.#team.sql(
      "select extract(epoch from clock_timestamp())::float8 * 1000 as ms",
    );
    for (const child of this.#children.slice(0, count)) child.stdin!.write("go\n");
    while (Number((await this.#team.sql("select count(*)::int as n from verbatim.jobs_open"))[0]!["n"]) > 0) {
      await wait(LOOK_MS);
    }
    for (const child of this.#children.slice(0, count)) child.stdin!.write("wait\n");
    const last = "select time from verbatim.ledger_entry where kind = 'RECEIPT' order by time desc limit 1";
    const ended = Date.parse(String((await this.#team.sql(last))[0]!["time"]));
    return { took_ms: Math.max(1, ended - Number(begun)) };
  }

  /** Opens the gates for good. */
  go(): void {
    for (const child of this.#children) child.stdin!.write("go\n");
  }

  async stop(): Promise<void> {
    for (const child of this.#children) child.kill("SIGTERM");
    await Promise.all(this.#children.filter((child) => child.exitCode === null).map((child) => once(child, "exit")));
  }
}

export function git(cwd: string, ...args: string[]): string {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
  const { status, stdout, stderr } = spawnSync("git", args, { cwd, env, encoding: "utf8", maxBuffer: 1e9 });
  if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
  return stdout.trim();
}
