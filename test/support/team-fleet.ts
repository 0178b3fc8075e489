import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { openWorkspace } from "../../src/index.ts";
import { runHere } from "./cli-in-process.ts";
import type { PostgresServer } from "./postgres-server.ts";

const GIT = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
const FOREIGN_ORDER = "locale_provider icu icu_locale 'en-US'";
const BUDGETS = { max_symbols: 99, max_sections: 99, max_bytes_expanded: 99_999, max_expands_per_step: 9 };

export function git(cwd: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync("git", args, { cwd, env: GIT, encoding: "utf8" });
  if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
  return stdout.trim();
}

/** The end of a job that its own steps give it; what they make is the same whenever and wherever they run, but for dice. */
export const KINDS = ["reads", "writes", "count", "dice", "mixed", "refused"] as const;
export type Kind = (typeof KINDS)[number];

/** Texts of WRITEs repeat, so that one run without faults says what the trees of all of them have to be. */
const VARIANTS = 3;

interface Posted {
  readonly job: string;
  readonly kind: Kind;
  /** Jobs with the same key make the same trees. */
  readonly key: string;
}

const jobspec = (name: string, determinism: string, command: string) =>
  JSON.stringify({
    schema_version: "cmp01-jobspec-1",
    run_id: name,
    job_id: name,
    intent: name,
    determinism,
    catalytic_domains: [".verbatim/scratch"],
    durable_output_roots: ["out"],
    outputs: { durable_paths: [`out/${name}.txt`] },
    command: ["sh", "-c", `echo work > .verbatim/scratch/t; ${command} > out/${name}.txt`],
  });

const FILES = {
  "verbatim.config.json": '{"context":{"sources":["*.md","jobs/*.json"]},"catalytic":{"durable_roots":["out"]}}',
  "tide.md": "# Tide\nlow\n",
  "boats.md": `# Boats\n${Array.from({ length: 40 }, (_, n) => `boat ${n}`).join("\n")}\n`,
  "jobs/count.json": jobspec("count", "deterministic", "wc -c < boats.md"),
  "jobs/dice.json": jobspec("dice", "nondeterministic", "head -c 12 /dev/urandom | od -An -tx1"),
};

const SYMBOLS = [
  ["@HARBOUR/TIDE", "tide.md"],
  ["@HARBOUR/BOATS", "boats.md"],
  ["@JOB/COUNT", "jobs/count.json"],
  ["@JOB/DICE", "jobs/dice.json"],
] as const;

function opsOf(kind: Kind, n: number): readonly object[] {
  const variant = n % VARIANTS;
  const write = (from: string, to: string) => ({
    type: "WRITE",
    target: "@HARBOUR/TIDE",
    params: {
      patch: `diff --git a/tide.md b/tide.md\n--- a/tide.md\n+++ b/tide.md\n@@ -1,2 +1,2 @@\n # Tide\n-${from}\n+${to}\n`,
    },
  });
  const read = (line: number) => ({
    type: "READ",
    target: "@HARBOUR/BOATS",
    params: { slice: `lines[${line}:${line + 1}]` },
  });
  const execute = (target: string) => ({ type: "EXECUTE", target, params: {} });
  switch (kind) {
    case "reads":
      return [read(n % 40), read((n + 7) % 40), read((n + 11) % 40)];
    case "writes":
      return [write("low", `ebb ${variant}`), write(`ebb ${variant}`, `flow ${variant}`)];
    case "count":
      return [execute("@JOB/COUNT")];
    case "dice":
      return [execute("@JOB/DICE"), write("low", `ebb ${variant}`)];
    case "mixed":
      return [read(n % 40), write("low", `slack ${variant}`), execute("@JOB/COUNT"), read(n % 40)];
    case "refused":
      return [read(n % 40), write("high", "low"), read(n % 40)];
  }
}

/** Makes a remote with one branch. */
export function makeRemote(folder: string): string {
  const remote = join(folder, "remote.git");
  const seed = join(folder, "seed");
  mkdirSync(join(seed, "jobs"), { recursive: true });
  git(folder, "init", "-q", "--bare", "-b", "main", remote);
  git(seed, "init", "-q", "-b", "main");
  for (const [path, text] of Object.entries(FILES)) writeFileSync(join(seed, path), text);
  git(seed, "add", "-A");
  git(seed, "-c", "user.name=Mira", "-c", "user.email=mira@example.org", "commit", "-q", "-m", "harbour");
  git(seed, "push", "-q", remote, "HEAD:main", "HEAD:release");
  return remote;
}

export async function createDatabase(server: PostgresServer, name: string): Promise<string> {
  await ask(server.url("postgres"), `create database ${name} template template0 ${FOREIGN_ORDER}`);
  return server.url(name);
}

async function ask(url: string, text: string, ...values: unknown[]): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text, values)).rows;
  } finally {
    await client.end();
  }
}

/** One of the workspaces of a database: a checkout of the remote, and what was posted to it. */
export class Crewed {
  readonly name: string;
  readonly checkout: string;
  readonly posted: Posted[] = [];
  readonly #env: Readonly<Record<string, string>>;
  readonly #run: string;

  constructor(name: string, folder: string, env: Readonly<Record<string, string>>, run: string) {
    this.name = name;
    this.checkout = join(folder, name);
    this.#env = env;
    this.#run = run;
  }

  env(url = this.#env["VERBATIM_DATABASE_URL"]!, state = "state"): Record<string, string> {
    return {
      ...this.#env,
      VERBATIM_WORKSPACE: this.name,
      VERBATIM_DATABASE_URL: url,
      VERBATIM_STATE: join(this.checkout, "..", state),
    };
  }

  verbatim(...args: string[]) {
    return runHere(args, { cwd: this.checkout, env: this.env() });
  }

  async must(...args: string[]): Promise<string> {
    const said = await this.verbatim(...args);
    if (said.exit !== 0) throw new Error(`${this.name}: ${args.join(" ")}: ${said.stdout}${said.stderr}`);
    return said.stdout;
  }

  /** Posts so many jobs of each of these kinds; numbers begin at `from`. */
  async post(count: number, from: number, kinds: readonly Kind[] = KINDS): Promise<void> {
    await using workspace = openWorkspace(this.checkout, { env: this.env() });
    for (let n = from; n < from + count; n++) {
      for (const kind of kinds) {
        const refs = SYMBOLS.map(([symbol]) => symbol);
        const message = { intent: `${kind} ${n}`, refs, ops: opsOf(kind, n), budgets: BUDGETS, required_outputs: [] };
        const { job_id } = await workspace.call("jobs.post", { message, run_id: this.#run });
        this.posted.push({ job: job_id, kind, key: `${kind} ${n % VARIANTS}` });
      }
    }
  }
}

/** A database with workspaces that all work on one remote. */
export async function createFleet(server: PostgresServer, database: string, names: readonly string[]) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-fleet-")));
  const url = await createDatabase(server, database);
  const remote = makeRemote(folder);
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: folder,
    XDG_STATE_HOME: join(folder, "state"),
    XDG_CONFIG_HOME: join(folder, "config"),
    VERBATIM_DATABASE_URL: url,
    VERBATIM_GIT_PATHS: "1",
  };
  const all: Crewed[] = [];
  for (const [n, name] of names.entries()) {
    const run = `00000000-0000-4000-8000-00000000000${n}`;
    const one = new Crewed(name, folder, env, run);
    git(folder, "clone", "-q", remote, one.checkout);
    await one.must(...(n === 0 ? ["store", "migrate", "--workspace", name] : ["workspace", "add", name]));
    await one.must("repository", "add", "ships", "--remote", remote);
    await one.must("index", "build");
    for (const [symbol, file] of SYMBOLS) await one.must("symbol", "add", symbol, "--file", file, "--slice", "head(1)");
    all.push(one);
  }
  return {
    folder,
    url,
    remote,
    workspaces: all,
    sql: (text: string, ...values: unknown[]) => ask(url, text, ...values),
    /** How many jobs nobody has ended yet. */
    open: async () => Number((await ask(url, "select count(*)::int as n from verbatim.jobs_open"))[0]!["n"]),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export type Fleet = Awaited<ReturnType<typeof createFleet>>;

/** A repository that has nothing to do with the others, with a message in it. */
export function makeForeign(folder: string): string {
  const checkout = join(folder, "foreign");
  mkdirSync(checkout);
  git(checkout, "init", "-q", "-b", "main");
  writeFileSync(join(checkout, "boats.md"), "# Boats\nnone\n");
  const refs = ["@HARBOUR/TIDE"];
  const message = { intent: "foreign", refs, ops: opsOf("writes", 0), budgets: BUDGETS, required_outputs: [] };
  writeFileSync(join(checkout, "message.json"), JSON.stringify(message));
  git(checkout, "add", "-A");
  git(checkout, "-c", "user.name=Ben", "-c", "user.email=ben@example.org", "commit", "-q", "-m", "elsewhere");
  return checkout;
}
