import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import { createContentStore } from "../../src/adapters/disk/content-store.ts";
import { createPauses } from "../../src/adapters/process/pauses.ts";
import { sqliteJobs } from "../../src/adapters/sqlite/jobs-tables.ts";
import { openSqliteStore } from "../../src/adapters/sqlite/store.ts";
import { encodeUtf8, formatCanonical, type JsonObject } from "../../src/core/canonical/index.ts";
import type { ContentStore } from "../../src/core/ports.ts";
import { runJob } from "../../src/rooms/jobs/job-run.ts";
import type { Corpus } from "../../src/rooms/jobs/ports.ts";
import { postMessage } from "../../src/rooms/jobs/post.ts";
import { claimStep } from "../../src/rooms/jobs/queue.ts";
import { toReadOutcome } from "../../src/rooms/jobs/receipt.ts";
import type { Bench } from "../harness.ts";

const RUN = "3f0c9a52-7b1e-4c60-9d2a-5e8f1b7c6d40";
const MOST_STEPS = 1000;
const MOST_ROUNDS = 42;
const LEASE_MS = 3_600_000;
const clock = { now: () => 1_735_787_045_000 };

/** A corpus of one symbol whose slices are short and all different. */
const corpus: Corpus = {
  look: (fn) =>
    fn({
      targetType: async () => "FILE",
      open: () => Promise.reject(new Error("nothing is written or executed here")),
      async cut(_, slice = "head(1)") {
        const bytes = encodeUtf8(`What ${slice} of the logbook says.`);
        const section_id = nodeCrypto.sha256("section");
        return { slice, section_id, file_path: "LOG.md", bytes, content_hash: nodeCrypto.sha256(bytes) };
      },
    }),
};

async function openJobs(folder: string) {
  let uuids = 0;
  const ids = { uuid: () => `00000000-0000-4000-8000-${String(uuids++).padStart(12, "0")}` };
  const path = join(folder, "store.db");
  const store = await openSqliteStore({ path, crypto: nodeCrypto, clock, ids, rooms: { jobs: sqliteJobs(clock) } });
  const content = rememberPuts(createContentStore({ folder: join(folder, "blobs"), crypto: nodeCrypto, clock }));
  const ports = {
    store,
    content,
    crypto: nodeCrypto,
    clock,
    ids,
    corpus,
    pauses: createPauses(),
    progress: { report: () => undefined },
    host: "bench",
    actor: "library",
    patch: null,
    execute: null,
  };
  let messages = 0;
  /** Posts a job of READ steps. */
  const post = async (steps: number) => {
    const most = Number.MAX_SAFE_INTEGER;
    const budgets = {
      max_symbols: most,
      max_sections: most,
      max_bytes_expanded: most,
      max_expands_per_step: most,
    };
    const ops = Array.from({ length: steps }, (_, i) => ({
      type: "READ",
      target: "@LOG/BOOK",
      params: { slice: `lines[${i}:${i + 1}]` },
    }));
    const message: JsonObject = {
      intent: `watch ${messages++}`,
      refs: ["@LOG/BOOK"],
      ops,
      budgets,
      required_outputs: [],
    };
    return (await postMessage(ports, message, RUN)).job.job_id;
  };
  return { ports, post };
}

/** All jobs read the same slices; nobody measures how they are stored. */
function rememberPuts(content: ContentStore): ContentStore {
  const known = new Set<string>();
  return {
    get: (hash) => content.get(hash),
    has: (hash) => content.has(hash),
    list: () => content.list(),
    remove: (hash, before) => content.remove(hash, before),
    async put(bytes) {
      const hash = nodeCrypto.sha256(bytes);
      if (!known.has(hash)) known.add(await content.put(bytes));
      return hash;
    },
  };
}

type Opened = Awaited<ReturnType<typeof openJobs>>;

/** A finished job; one transaction for all its steps, because nobody measures it. */
async function postFinished({ ports, post }: Opened, steps: number): Promise<void> {
  const job_id = await post(steps);
  const now = clock.now();
  await ports.store.transact(async ({ jobs }) => {
    for (let ordinal = 1; ordinal <= steps; ordinal++) {
      const lease = { lease_owner: "bench", lease_expires_ms: now + LEASE_MS, fencing_token: 1, now };
      const row = await jobs.lease({ job_id, ordinal, ...lease });
      const { receipt } = toReadOutcome(RUN, row);
      const { step_id } = receipt;
      const text = formatCanonical(receipt);
      const receipt_hash = nodeCrypto.sha256(text);
      await jobs.settle({ job_id, ordinal, step_id, status: "SUCCESS", receipt: text, receipt_hash, now });
    }
  });
}

const OPEN_JOBS = 50;
const worker = { name: "bench", lease_ms: LEASE_MS };

/** A store with finished steps and some open jobs, and one round of claims in it. */
async function prepareClaims(finished: number) {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-bench-"));
  const opened = await openJobs(folder);
  for (let left = finished; left > 0; left -= MOST_STEPS) await postFinished(opened, Math.min(left, MOST_STEPS));
  const open: string[] = [];
  for (let i = 0; i < OPEN_JOBS; i++) open.push(await opened.post(MOST_ROUNDS));
  return {
    async claim() {
      for (const job_id of open) await claimStep(opened.ports, { job_id }, worker);
    },
    async close() {
      await opened.ports.store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export const jobsClaim: Bench = {
  name: "jobs-claim",
  what: "50 claims in a SQLite store with N finished steps",
  baseline: "the same claims with 100 finished steps",
  corpus: "finished jobs of up to 1,000 READ steps, 50 open jobs of 42 steps",
  sizes: [1_000, 100_000],
  goal: { kind: "time", atMost: 1.3 },
  async prepare(size) {
    const [many, few] = [await prepareClaims(size), await prepareClaims(100)];
    return {
      ours: () => many.claim(),
      baseline: () => few.claim(),
      async close() {
        await many.close();
        await few.close();
      },
    };
  },
};

export const jobsReadSteps: Bench = {
  name: "jobs-read-steps",
  what: "N READ steps of one job, run by one worker over SQLite",
  baseline: "N durable ledger appends of one entry",
  corpus: "slices of about 40 bytes, all different, already stored",
  sizes: [100, 1_000],
  goal: { kind: "time", atMost: 3 },
  async prepare(size) {
    const folder = mkdtempSync(join(tmpdir(), "verbatim-bench-"));
    const opened = await openJobs(join(folder, "ours"));
    const jobs: string[] = [];
    for (let i = 0; i < MOST_ROUNDS; i++) jobs.push(await opened.post(size));
    const plain = await openJobs(join(folder, "plain"));
    const entry = { kind: "NOTE_ADDED", actor: "bench", body: { text: "boat ".repeat(80) } };
    return {
      ours: () => runJob(opened.ports, jobs.shift()!, { workers: 1 }),
      async baseline() {
        for (let i = 0; i < size; i++) {
          await plain.ports.store.transact(({ ledger }) => ledger.append("plain", "next", [entry]));
        }
      },
      async close() {
        await opened.ports.store.close();
        await plain.ports.store.close();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
};
