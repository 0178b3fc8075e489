import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { createContentStore } from "../../src/adapters/disk/durable/content-store.ts";
import { createPauses } from "../../src/adapters/process/pauses.ts";
import { postgresJobs } from "../../src/adapters/sql/postgres/jobs-tables.ts";
import { ledgerMigration as postgresLedger } from "../../src/adapters/sql/postgres/migrations/0001-ledger.ts";
import { jobsMigration as postgresJobsMigration } from "../../src/adapters/sql/postgres/migrations/0003-jobs.ts";
import { workspacesMigration } from "../../src/adapters/sql/postgres/migrations/0014-workspaces.ts";
import { migratePostgres, openPostgresStore } from "../../src/adapters/sql/postgres/store.ts";
import { sqliteJobs } from "../../src/adapters/sql/sqlite/jobs-tables.ts";
import { ledgerMigration as sqliteLedger } from "../../src/adapters/sql/sqlite/migrations/0001-ledger.ts";
import { jobsMigration as sqliteJobsMigration } from "../../src/adapters/sql/sqlite/migrations/0003-jobs.ts";
import { openSqliteStore } from "../../src/adapters/sql/sqlite/store.ts";
import type { JsonValue } from "../../src/core/canonical/index.ts";
import type { Clock, ContentStore, EntryRecord } from "../../src/core/ports.ts";
import { type PostPorts, postMessage } from "../../src/rooms/jobs/message/post.ts";
import type { JobsStore } from "../../src/rooms/jobs/ports.ts";
import type { RunPorts } from "../../src/rooms/jobs/steps/job-run.ts";
import { streamOf } from "../../src/rooms/jobs/steps/job-state.ts";
import { countingIds, fixedPorts, HandClock } from "./fixed-ports.ts";
import { harbourCorpus, type TestCorpus } from "./job-corpus.ts";
import { enterWorkspace, type TestDatabase, withWorkspace } from "./postgres.ts";
import { DatabaseSync } from "./raw-sqlite.ts";

export const RUN = "3f0c9a52-7b1e-4c60-9d2a-5e8f1b7c6d40";

export interface JobPortsOfTest extends PostPorts, RunPorts {
  readonly corpus: TestCorpus;
}

/** Jobs in a real database, and a way past the store to its owner's own connection. */
export interface JobHarness {
  readonly kind: "sqlite" | "postgres";
  readonly clock: HandClock;
  /** Where another process finds the store. */
  readonly place: readonly string[];
  /** Folder for files of the test. */
  readonly folder: string;
  /** Ports over a connection of their own; all are closed with the harness. */
  open(change?: { readonly clock?: Clock; readonly corpus?: TestCorpus }): Promise<JobPortsOfTest>;
  raw(...sql: string[]): Promise<Record<string, unknown>[]>;
  isRefusal(thrown: unknown): boolean;
  destroy(): Promise<void>;
}

interface Opened {
  readonly store: JobsStore;
  readonly content: ContentStore;
}

function toPorts({ store, content }: Opened, clock: Clock, corpus: TestCorpus): JobPortsOfTest {
  const { crypto } = fixedPorts();
  return {
    store,
    content,
    crypto,
    clock,
    corpus,
    ids: countingIds(),
    pauses: createPauses(),
    progress: { report: () => undefined },
    host: "test",
    actor: "library",
    patch: null,
    execute: null,
  };
}

export async function createSqliteJobs(): Promise<JobHarness> {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-jobs-"));
  const path = join(folder, "store.db");
  const handClock = new HandClock();
  const opened: JobsStore[] = [];
  return {
    kind: "sqlite",
    clock: handClock,
    place: ["sqlite", folder],
    folder,
    async open({ clock = handClock, corpus = harbourCorpus() } = {}) {
      const { crypto, ids } = fixedPorts();
      const migrations = [sqliteLedger, sqliteJobsMigration];
      const store = await openSqliteStore({ path, crypto, clock, ids, migrations, rooms: { jobs: sqliteJobs(clock) } });
      opened.push(store);
      const content = createContentStore({ folder: join(folder, "blobs"), crypto, clock });
      return toPorts({ store, content }, clock, corpus);
    },
    async raw(...sql) {
      // The driver's defaults: no foreign keys, no recursive triggers, as in any SQLite shell.
      const database = new DatabaseSync(path, { timeout: 10_000, enableForeignKeyConstraints: false });
      try {
        for (const statement of sql.slice(0, -1)) database.exec(statement);
        const last = database.prepare(sql.at(-1)!);
        if (last.columns().length > 0) return last.all() as Record<string, unknown>[];
        last.run();
        return [];
      } finally {
        database.close();
      }
    },
    isRefusal: (thrown) => thrown instanceof Error && "errcode" in thrown && (Number(thrown.errcode) & 0xff) === 19,
    async destroy() {
      await Promise.all(opened.map((store) => store.close()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

let schemas = 0;

export async function createPostgresJobs(database: TestDatabase): Promise<JobHarness> {
  const schema = `jobs_${schemas++}`;
  const url = `${database.url}&options=${encodeURIComponent(`-c search_path=${schema}`)}`;
  const handClock = new HandClock();
  const opened: JobsStore[] = [];
  const folder = mkdtempSync(join(tmpdir(), "verbatim-jobs-"));
  return {
    kind: "postgres",
    clock: handClock,
    place: ["postgres", url],
    folder,
    async open({ clock = handClock, corpus = harbourCorpus() } = {}) {
      const { crypto, ids } = fixedPorts();
      const migrations = [postgresLedger, postgresJobsMigration, workspacesMigration];
      const rooms = { jobs: postgresJobs(clock) };
      await migratePostgres({ url, clock, ids, migrations });
      const store = await openPostgresStore({ url, crypto, clock, ids, migrations, rooms });
      opened.push(store);
      return toPorts({ store, content: store.content }, clock, corpus);
    },
    async raw(...sql) {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      try {
        await enterWorkspace(client);
        for (const statement of sql.slice(0, -1)) await client.query(statement);
        return (await client.query<Record<string, unknown>>(withWorkspace(sql.at(-1)!))).rows;
      } finally {
        await client.end();
      }
    },
    // What our triggers raise, what constraints raise, and what a generated key raises.
    isRefusal: (thrown) =>
      thrown instanceof Error && "code" in thrown && /^(?:23|428C9|42501)/.test(String(thrown.code)),
    async destroy() {
      await Promise.all(opened.map((store) => store.close()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Posts a message and gives the id of its job. */
export async function post(ports: PostPorts, message: JsonValue, run = RUN): Promise<string> {
  return (await postMessage(ports, message, run)).job.job_id;
}

/** Everything a job left: states, receipts as text, and what its stream says. */
export async function readJob(ports: Pick<PostPorts, "store">, jobId: string) {
  return ports.store.read(async ({ jobs, ledger }) => ({
    statuses: (await jobs.steps(jobId)).map(({ status }) => status),
    receipts: (await jobs.receipts(jobId)).map(({ receipt }) => receipt),
    hashes: (await jobs.receipts(jobId)).map(({ receipt_hash }) => receipt_hash),
    entries: await ledger.readStream(streamOf(jobId), 0, 10_000),
  }));
}

export function kindsOf(entries: readonly EntryRecord[]): string[] {
  return entries.map(({ kind }) => kind);
}

/** The file of a payload in a store on disk. */
export function payloadPath(folder: string, hash: string): string {
  const at = join(folder, "blobs", "sha256", hash.slice(0, 2), hash.slice(2, 4));
  return join(at, readdirSync(at).find((name) => name.startsWith(hash))!);
}
