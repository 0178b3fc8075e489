import { randomUUID } from "node:crypto";
import { lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import pg from "pg";
import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import { createContentStore } from "../../src/adapters/disk/durable/content-store.ts";
import { composeAlone } from "../../src/app/compose/compose.ts";
import { jobPorts } from "../../src/app/compose/jobs.ts";
import { encodeUtf8, type JsonObject } from "../../src/core/canonical/index.ts";
import { postMessage } from "../../src/rooms/jobs/message/post.ts";
import { queueOf } from "../../src/rooms/jobs/steps/dispatch.ts";
import type { Bench } from "../harness.ts";
import { openCorpus } from "../markdown-corpus.ts";
import { type BenchTeam, messageOf, nameLog, openTeam, withoutPostgres } from "../team-corpus.ts";

const shared = { onAsking: true, unavailable: withoutPostgres } as const;
const RUN = "3f0c9a52-7b1e-4c60-9d2a-5e8f1b7c6d40";

interface Insert {
  readonly text: string;
  readonly values: readonly (readonly string[])[];
  /** The column that makes the same rows other ones. */
  readonly own: number;
}

/** What one post left, as statements into tables that have the same columns and indexes and nothing else. */
async function copyInserts(team: BenchTeam, jobId: string): Promise<readonly Insert[]> {
  const [{ xmin } = {}] = await team.sql("select xmin::text from verbatim.jobs_job where job_id = $1", [jobId]);
  const tables = await team.sql(
    `select n.nspname as schema, c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname in ('verbatim', 'verbatim_queue') and c.relkind = 'r' order by 1, 2`,
  );
  await team.sql("create schema bare");
  const found: Insert[] = [];
  for (const { schema, name } of tables) {
    const columns = await team.sql(
      `select column_name as name, is_generated <> 'NEVER' as made from information_schema.columns
       where table_schema = $1 and table_name = $2 order by ordinal_position`,
      [schema, name],
    );
    const names = columns.filter(({ made }) => made !== true).map((row) => `"${String(row["name"])}"`);
    const rows = await team.sql(
      `select ${names.map((one) => `${one}::text`).join(", ")} from ${String(schema)}.${String(name)} where xmin::text = $1`,
      [xmin],
    );
    if (rows.length === 0) continue;
    const place = `bare."${String(schema)}_${String(name)}"`;
    await team.sql(
      `create table ${place} (like ${String(schema)}.${String(name)} including indexes including defaults)`,
    );
    const params = rows.map((_, r) => `(${names.map((__, c) => `$${r * names.length + c + 1}`).join(", ")})`);
    const own = names.indexOf(String(schema) === "verbatim" ? '"workspace_id"' : '"id"');
    const values = rows.map((row) => Object.values(row) as string[]);
    found.push({ text: `insert into ${place} (${names.join(", ")}) values ${params.join(", ")}`, values, own });
  }
  return found;
}

const POSTS = 40;

export const teamPost: Bench = {
  ...shared,
  name: "team-post",
  what: `${POSTS} posts of a message with one READ step, planned from memory`,
  baseline:
    "as many bare transactions with the same inserts, the row of the queue included, into tables with the same indexes",
  corpus: "an empty database of a team",
  sizes: [1],
  goal: { kind: "rate", atLeast: 0.5 },
  async prepare() {
    const team = await openTeam();
    await nameLog(team);
    const { env, checkout } = team;
    const composition = composeAlone({ surface: "library", start: checkout, env, platform: process.platform });
    const ports = await jobPorts(composition, "append");
    const store = await composition.store("append");
    const queue = queueOf(store.workspaceId!, null, "default");
    await store.dispatch!.prepare(queue);
    const bytes = encodeUtf8("What the logbook says.");
    const hash = nodeCrypto.sha256(bytes);
    const cut = { slice: "head(1)", section_id: hash, file_path: "log.md", bytes, content_hash: hash };
    const memory = {
      ...ports,
      content: { ...ports.content, put: async () => hash },
      corpus: {
        look: <T>(fn: (view: never) => Promise<T>) =>
          fn({ targetType: async () => "FILE", cut: async () => cut } as never),
      },
    };
    const posting = { queue, repository_id: null, base_commit: null, base_tree: null };
    const post = async () => {
      const message = messageOf([{ type: "READ", target: "@LOG/BOOK", params: {} }]) as unknown as JsonObject;
      return (await postMessage(memory, message, RUN, async () => posting)).job.job_id;
    };
    const inserts = await copyInserts(team, await post());
    const client = new pg.Client({ connectionString: team.url });
    await client.connect();
    const bare = async () => {
      const other = randomUUID();
      await client.query("begin isolation level read committed read write; set local lock_timeout = '10000'");
      for (const [n, { text, values, own }] of inserts.entries()) {
        const changed = values.flatMap((row) => row.map((value, c) => (c === own ? other : value)));
        await client.query({ name: `bare-${n}`, text, values: changed });
      }
      await client.query("commit");
    };
    return {
      async ours() {
        for (let n = 0; n < POSTS; n++) await post();
      },
      async baseline() {
        for (let n = 0; n < POSTS; n++) await bare();
      },
      async close() {
        await client.end();
        await composition.close();
        await team.close();
      },
    };
  },
};

const MOST_BYTES = 15_000_000;
const MOST_EACH = 300;

export const teamPayloadBytes: Bench = {
  ...shared,
  name: "team-payload-bytes",
  what: "N payloads of 58 bytes in PostgreSQL, with their index",
  baseline: `${MOST_BYTES} bytes`,
  corpus: "payloads that are all different",
  sizes: [50_000],
  unit: "bytes",
  maxRounds: 1,
  goal: { kind: "time", atMost: 1 },
  async prepare(size) {
    const team = await openTeam();
    // As the content store writes them; one by one would take minutes and the same space.
    await team.sql(
      `insert into verbatim.content (workspace_id, hash, bytes, stored_ms)
       select (select id from verbatim.workspace), encode(sha256(bytes), 'hex'), bytes, 1735787045000
       from (select rpad('payload ' || n, 58, '.')::bytea as bytes from generate_series(1, $1) n) as rows`,
      [size],
    );
    const sizeOf = "select pg_total_relation_size('verbatim.content') as bytes";
    return {
      ours: async () => ({ bytes: Number((await team.sql(sizeOf))[0]!["bytes"]) }),
      baseline: MOST_BYTES,
      close: () => team.close(),
    };
  },
};

/** What files take on the disk, with their folders. */
function allocated(folder: string): number {
  let bytes = lstatSync(folder).blocks * 512;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    bytes += entry.isDirectory() ? allocated(path) : lstatSync(path).blocks * 512;
  }
  return bytes;
}

export const teamPayloadFiles: Bench = {
  onAsking: true,
  name: "team-payload-files",
  what: "N payloads of 58 bytes beside a store in a file",
  baseline: `${MOST_EACH} bytes each, as 15 MB for 50,000 are`,
  corpus: "payloads that are all different",
  sizes: [5_000],
  unit: "bytes",
  maxRounds: 1,
  goal: { kind: "time", atMost: 1 },
  async prepare(size) {
    const folder = mkdtempSync(join(tmpdir(), "verbatim-bench-"));
    const content = createContentStore({
      folder: join(folder, "blobs"),
      crypto: nodeCrypto,
      clock: { now: () => Date.now() },
    });
    for (let n = 1; n <= size; n++) await content.put(encodeUtf8(`payload ${n}`.padEnd(58, ".")));
    return {
      ours: () => ({ bytes: allocated(folder) }),
      baseline: size * MOST_EACH,
      close: () => rmSync(folder, { recursive: true, force: true }),
    };
  },
};

const NEW = 1_000;
const FEW = 10_000;
const BATCH = 2_000;

/** A ledger of so many entries, a checkpoint, and a thousand entries after it. */
async function openLedger(size: number): Promise<BenchTeam> {
  const team = await openTeam();
  const { env, checkout } = team;
  const composition = composeAlone({ surface: "library", start: checkout, env, platform: process.platform });
  const store = await composition.store("append");
  const append = (count: number) =>
    store.transact(({ ledger }) =>
      ledger.append(
        "notes",
        "next",
        Array.from({ length: count }, (_, n) => ({ kind: "NOTE_ADDED", actor: "bench", body: { n } })),
      ),
    );
  for (let done = 0; done < size; done += BATCH) await append(Math.min(BATCH, size - done));
  await team.app.call("keys.new", { name: "bench" });
  await team.app.call("ledger.checkpoint", { key: "bench" });
  await append(NEW);
  await composition.close();
  return team;
}

export const teamVerifySince: Bench = {
  ...shared,
  name: "team-verify-since",
  what: `verification since the last checkpoint: ${NEW} entries after N`,
  baseline: `${NEW} entries after ${FEW}`,
  corpus: "one stream of small entries on PostgreSQL",
  sizes: [200_000],
  goal: { kind: "time", atMost: 1.3 },
  async prepare(size) {
    const [many, few] = [await openLedger(size), await openLedger(FEW)];
    const verify = (team: BenchTeam) => team.app.call("ledger.verify", { since: "last" });
    return {
      ours: () => verify(many),
      baseline: () => verify(few),
      async close() {
        await many.close();
        await few.close();
      },
    };
  },
};

const FILES = 5_600;
const QUERY = "harbour inlet";
const SEARCH_CORPUS = `${FILES} seeded Markdown files of nine sections each, in PostgreSQL`;

async function openSections() {
  const root = await openCorpus(FILES);
  const away = () => {
    for (const name of [".verbatim", "verbatim.config.json"])
      rmSync(join(root, name), { recursive: true, force: true });
  };
  away();
  const team = await openTeam(root);
  await team.app.call("context.index-build", {});
  return {
    team,
    async close() {
      await team.close();
      away();
    },
  };
}

export const teamSearchFirst: Bench = {
  ...shared,
  name: "team-search-first",
  what: "the first search of a process, with 50,000 sections in PostgreSQL",
  baseline: "a later search",
  corpus: SEARCH_CORPUS,
  sizes: [FILES],
  shares: "team-search",
  maxRounds: 5,
  goal: { kind: "time", atMost: 2 },
  async prepare() {
    const { team, close } = await openSections();
    let fresh = team.open();
    return {
      async before() {
        await fresh.close();
        fresh = team.open();
        // Connected, as a server that was just started.
        await fresh.call("store.status", {});
        await fresh.call("jobs.list", {});
      },
      ours: () => fresh.call("context.search", { query: QUERY }),
      baseline: () => team.app.call("context.search", { query: QUERY }),
      async close() {
        await fresh.close();
        await close();
      },
    };
  },
};

const CLIENTS = 8;
const MOST_LAG_MS = 20;

export const teamSearchLag: Bench = {
  ...shared,
  name: "team-search-lag",
  what: `p99 of the lag of the event loop while ${CLIENTS} clients search`,
  baseline: `${MOST_LAG_MS} ms`,
  corpus: SEARCH_CORPUS,
  sizes: [FILES],
  shares: "team-search",
  maxRounds: 5,
  goal: { kind: "time", atMost: 1 },
  async prepare() {
    const { team, close } = await openSections();
    await team.app.call("context.search", { query: QUERY });
    return {
      async ours() {
        const delay = monitorEventLoopDelay({ resolution: 1 });
        delay.enable();
        const client = async () => {
          for (let n = 0; n < 10; n++) await team.app.call("context.search", { query: QUERY });
        };
        await Promise.all(Array.from({ length: CLIENTS }, client));
        delay.disable();
        return { took_ms: delay.percentile(99) / 1e6 };
      },
      baseline: MOST_LAG_MS,
      close,
    };
  },
};
