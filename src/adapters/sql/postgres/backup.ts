import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import pg from "pg";
import { z } from "zod";
import { formatCanonical, parseJson } from "../../../core/canonical/index.ts";
import { hashHex, uuid } from "../../../core/contracts/index.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { errnoCode } from "../../../core/errors/system.ts";
import { MerkleFrontier } from "../../../core/ledger/index.ts";
import type { Ids, SyncCrypto } from "../../../core/ports.ts";
import { type Address, parseAddress } from "./address.ts";
import { sqlState, toStoreError } from "./errors.ts";
import { requireDatabase } from "./migrate.ts";
import { POSTGRES_MIGRATIONS } from "./migrations/index.ts";
import { connectionConfig } from "./pool.ts";
import { prepareRole, roleName } from "./role.ts";

const VERSION = "verbatim-backup-v1";
const DUMP = "database.dump";
const FACTS = "BACKUP.json";
const BUSY_MS = 10_000;
const PAGE = 10_000;
const MOST_SHOWN = 2000;

const ledger = z.strictObject({
  workspace: z.string(),
  ledger_id: uuid,
  tree_size: z.int().min(0),
  root_hash: hashHex,
});

const facts = z.strictObject({
  schema_version: z.literal(VERSION),
  schema: z.string().regex(/^[a-z_][a-z0-9_]{0,40}$/),
  version: z.int().min(1),
  engine: z.int().nullable(),
  incarnation: uuid,
  ledgers: z.array(ledger),
  bytes: z.int().min(1),
  sha256: hashHex,
});

export type BackupFacts = z.infer<typeof facts>;

interface Ports {
  readonly crypto: SyncCrypto;
  readonly ids: Ids;
  /** Name of the schema of the queue beside that of the records. */
  queueSchema(schema: string): string;
}

/**
 * One dump of records and queue, and what the ledgers of all workspaces were at exactly that moment: both are read from one
 * snapshot of the server. Needs a login that sees every row.
 */
export async function backUp(url: string, folder: string, { crypto, queueSchema }: Ports): Promise<BackupFacts> {
  const address = parseAddress(url, BUSY_MS);
  requireNew(folder);
  await requireDatabase(address, POSTGRES_MIGRATIONS);
  return withClient(address, async (client) => {
    const { schema } = address;
    // Not row security: a backup of some rows would look like one of all.
    await client.query(
      `begin isolation level repeatable read read only; set local search_path = ${schema}; set local row_security = off`,
    );
    const applied = await client.query<{ version: number }>("select max(version)::int as version from migration");
    const snapshot = (await client.query<{ id: string }>("select pg_export_snapshot() as id")).rows[0]!.id;
    const workspaces = await client.query<{ id: string; name: string }>(
      "select id::text, name from workspace order by name",
    );
    const ledgers: z.infer<typeof ledger>[] = [];
    for (const { id, name } of workspaces.rows) {
      ledgers.push({ workspace: name, ledger_id: id, ...(await readRoot(client, crypto, id)) });
    }
    const incarnation = (await client.query<{ id: string }>(NEWEST_INCARNATION)).rows[0]!.id;
    const engine = await readEngine(client, queueSchema(schema));
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const dump = join(folder, DUMP);
    try {
      const args = ["--format=custom", "--no-owner", "--no-privileges", `--snapshot=${snapshot}`, `--file=${dump}`];
      await run("pg_dump", [...args, `--schema=${schema}`, `--schema=${queueSchema(schema)}`], address);
      await client.query("commit");
      const { sha256, bytes } = await hashFile(dump);
      const { version } = applied.rows[0]!;
      const found = { schema_version: VERSION, schema, version, engine, incarnation, ledgers, bytes, sha256 } as const;
      writeFileSync(join(folder, FACTS), `${formatCanonical(found)}\n`, { mode: 0o600, flag: "wx" });
      return found;
    } catch (thrown) {
      rmSync(dump, { force: true });
      throw thrown;
    }
  });
}

const NEWEST_INCARNATION = "select id::text as id from incarnation order by number desc limit 1";

export interface Restored {
  readonly where: string;
  readonly incarnation: string;
  readonly before: BackupFacts;
  /** Open jobs, runs and merges whose effects go on under new names. */
  readonly open: number;
}

/**
 * Brings a backup into an empty database. Its ledgers have to be those that the backup says; then the database gets a new
 * incarnation, so that nothing which was made from the one before it is taken for its own.
 */
export async function restore(
  url: string,
  folder: string,
  ports: Ports & { installEngine(connectionString: string, schema: string, role: string | null): Promise<void> },
): Promise<Restored> {
  const { crypto, ids, queueSchema } = ports;
  const address = parseAddress(url, BUSY_MS);
  const before = readFacts(folder);
  const { schema } = before;
  if (address.schema !== schema) {
    throw new VerbatimError("BACKUP_INVALID", {
      message: `the backup is of the schema ${schema}, not ${address.schema}`,
    });
  }
  const dump = join(folder, DUMP);
  const { sha256, bytes } = await hashFile(dump);
  if (sha256 !== before.sha256 || bytes !== before.bytes) {
    throw new VerbatimError("BACKUP_INVALID", {
      message: `${DUMP} is not the one that ${FACTS} speaks of`,
      where: folder,
    });
  }
  await withClient(address, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      "select nspname as name from pg_namespace where nspname = any ($1)",
      [[schema, queueSchema(schema)]],
    );
    if (rows.length > 0) throw new VerbatimError("STORE_NOT_EMPTY", { where: address.where });
  });
  await run("pg_restore", ["--no-owner", "--no-privileges", "--single-transaction", "--exit-on-error", dump], address);
  try {
    return await begin(address, before, ports);
  } catch (thrown) {
    // What does not hold what the backup says is nobody's store.
    await withClient(address, async (client) => {
      await client.query(
        `drop schema if exists ${schema} cascade; drop schema if exists ${queueSchema(schema)} cascade`,
      );
    });
    throw thrown;
  }

  async function begin(at: Address, was: BackupFacts, more: typeof ports): Promise<Restored> {
    const incarnation = ids.uuid();
    const found = await withClient(at, async (client) => {
      await client.query(`begin; set local search_path = ${schema}; set local row_security = off`);
      for (const { workspace, ledger_id, tree_size, root_hash } of was.ledgers) {
        const now = await readRoot(client, crypto, ledger_id);
        if (now.tree_size === tree_size && now.root_hash === root_hash) continue;
        throw new VerbatimError("BACKUP_INVALID", {
          message: `the ledger of ${workspace} is not the one that ${FACTS} speaks of`,
          details: { expected: { tree_size, root_hash }, found: now },
        });
      }
      const database = (await client.query<{ name: string }>("select current_database() as name")).rows[0]!.name;
      const role = roleName(database, schema);
      await prepareRole(client, schema, role);
      await client.query(
        "insert into access_login (login, workspace_id) select session_user, id from workspace on conflict do nothing",
      );
      await client.query("insert into incarnation (id, time) values ($1, time_now())", [incarnation]);
      // Effects of open jobs go on under names of this incarnation: others may have used the former ones since.
      const { rowCount } = await client.query(
        `update job_dispatch set ref = null where (workspace_id, job_id) in (select workspace_id, job_id from jobs_open)
         or job_id in (select run_id from agent_request except select run_id from agent_result)
         or job_id in (select land_id from land_request except select land_id from land_result)`,
      );
      await client.query("delete from worker");
      const queue = queueSchema(schema);
      if (was.engine !== null) {
        await client.query(`update ${queue}.job set state = 'retry', start_after = now() where state = 'active'`);
      }
      await client.query("commit");
      return { role, open: rowCount ?? 0 };
    });
    if (was.engine !== null) await more.installEngine(at.connectionString, schema, found.role);
    await requireDatabase(at, POSTGRES_MIGRATIONS);
    return { where: at.where, incarnation, before: was, open: found.open };
  }
}

/** What the ledger of a workspace is, by the hashes of its entries. */
export async function readRoot(client: pg.Client, crypto: SyncCrypto, workspace: string) {
  const frontier = new MerkleFrontier(crypto);
  for (;;) {
    const { rows } = await client.query<{ hash: string }>(
      "select hash from ledger_order where workspace_id = $1 and idx >= $2 order by idx limit $3",
      [workspace, frontier.size, PAGE],
    );
    await frontier.appendEntries(rows.map(({ hash }) => hash));
    if (rows.length < PAGE) return { tree_size: frontier.size, root_hash: await frontier.root() };
  }
}

async function readEngine(client: pg.Client, queue: string): Promise<number | null> {
  const { rowCount } = await client.query("select 1 from pg_tables where schemaname = $1 and tablename = 'version'", [
    queue,
  ]);
  if (rowCount === 0) return null;
  return (await client.query<{ version: number }>(`select version from ${queue}.version`)).rows[0]!.version;
}

function requireNew(folder: string): void {
  if (!existsSync(folder) || readdirSync(folder).length === 0) return;
  throw new VerbatimError("FILE_EXISTS", { message: "the folder for the backup is not empty", where: folder });
}

function readFacts(folder: string): BackupFacts {
  const where = join(folder, FACTS);
  try {
    const parsed = facts.safeParse(parseJson(readFileSync(where), { file: FACTS }));
    if (parsed.success) return parsed.data;
  } catch (thrown) {
    if (!isVerbatimError(thrown) && errnoCode(thrown) === null) throw thrown;
  }
  throw new VerbatimError("BACKUP_INVALID", { message: `there is no ${FACTS} that says what the backup holds`, where });
}

async function hashFile(path: string): Promise<{ readonly sha256: string; readonly bytes: number }> {
  const hash = createHash("sha256");
  let bytes = 0;
  try {
    await pipeline(createReadStream(path), async (parts: AsyncIterable<Buffer>) => {
      for await (const part of parts) {
        bytes += part.length;
        hash.update(part);
      }
    });
  } catch (thrown) {
    throw new VerbatimError("BACKUP_INVALID", { message: "the dump cannot be read", where: path, cause: thrown });
  }
  return { sha256: hash.digest("hex"), bytes };
}

async function withClient<T>(address: Address, fn: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(connectionConfig(address));
  client.on("error", () => undefined);
  try {
    await client.connect();
    return await fn(client);
  } catch (thrown) {
    if (isVerbatimError(thrown)) throw thrown;
    if (sqlState(thrown) !== "42501") throw toStoreError(thrown, address.where);
    throw new VerbatimError("STORE_REFUSED", {
      message: "this login may not read every row",
      where: address.where,
      fix: "Use a login that is a superuser or has bypassrls.",
      cause: thrown,
    });
  } finally {
    await client.end();
  }
}

/** PostgreSQL's own programs, with the address where no other user of the machine sees it. */
async function run(program: string, args: readonly string[], address: Address): Promise<void> {
  const parsed = new pg.Client(connectionConfig(address));
  const ssl = new URL(address.connectionString).searchParams.get("sslmode");
  const env = {
    PATH: process.env["PATH"] ?? "",
    LC_ALL: "C",
    PGHOST: parsed.host,
    PGPORT: String(parsed.port),
    PGUSER: parsed.user ?? "",
    PGDATABASE: parsed.database ?? "",
    ...(parsed.password == null ? {} : { PGPASSWORD: parsed.password }),
    ...(ssl === null ? {} : { PGSSLMODE: ssl }),
  };
  const own = program === "pg_restore" ? ["--dbname", parsed.database ?? ""] : [];
  const { code, said } = await new Promise<{ code: number | null; said: string }>((done, fail) => {
    const child = spawn(program, ["--no-password", ...own, ...args], { env, stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    child.stderr.on("data", (part: Buffer) => {
      said = `${said}${part.toString("utf8")}`.slice(0, MOST_SHOWN);
    });
    child.on("error", (cause) =>
      fail(new VerbatimError("BACKUP_FAILED", { message: `${program} could not be started`, cause })),
    );
    child.on("close", (exit) => done({ code: exit, said }));
  });
  if (code === 0) return;
  throw new VerbatimError("BACKUP_FAILED", { message: `${program} failed: ${said.trim()}`, where: address.where });
}
