import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import { loadSqlite } from "../../src/adapters/sql/sqlite/driver.ts";
import { formatCanonical } from "../../src/core/canonical/index.ts";
import { runJob } from "../../src/rooms/jobs/steps/job-run.ts";
import { claimStep } from "../../src/rooms/jobs/steps/queue.ts";
import { toReadOutcome } from "../../src/rooms/jobs/steps/receipt.ts";
import type { Bench } from "../harness.ts";
import { clock, type Opened, openJobs, RUN } from "../job-corpus.ts";

const MOST_STEPS = 1000;
const MOST_ROUNDS = 42;
const LEASE_MS = 3_600_000;

/** A finished job; one transaction for all its steps, because nobody measures it. */
async function postFinished({ ports, post }: Opened, steps: number): Promise<string> {
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
  return job_id;
}

/** The same finished job again under other ids, past the guards of the tables as if it had been worked off. */
async function copyFinished({ path }: Opened, job_id: string, copies: number): Promise<void> {
  const { module } = await loadSqlite();
  const database = new module.DatabaseSync(path, {});
  database.exec("pragma synchronous = off; pragma cache_size = -524288; pragma wal_autocheckpoint = 100000");
  for (let i = 1; i <= copies; i++) {
    const ours = `where job_id = '${job_id}-${i}'`;
    database.exec(`begin immediate;
      insert into jobs_job (job_id, run_id, message_id, plan_hash, step_count, intent, message)
        select job_id || '-${i}', run_id, message_id || '-${i}', plan_hash, step_count, intent, message
        from jobs_job where job_id = '${job_id}';
      insert into jobs_step (job_id, ordinal, step_id, op, step, resolved, status, fencing_token)
        select job_id || '-${i}', ordinal, step_id || '-${i}', op, step, resolved, 'PENDING', 0
        from jobs_step where job_id = '${job_id}' order by ordinal;
      update jobs_step set status = 'LEASED', fencing_token = 1, (lease_owner, lease_expires_ms, touched_ms) =
        (select lease_owner, lease_expires_ms, touched_ms from jobs_step where job_id = '${job_id}' and ordinal = 1) ${ours};
      insert into jobs_receipt (step_id, job_id, ordinal, status, receipt_hash, receipt)
        select step_id || '-${i}', job_id || '-${i}', ordinal, status, receipt_hash,
          replace(receipt, '"' || step_id || '"', '"' || step_id || '-${i}"')
        from jobs_receipt where job_id = '${job_id}' order by ordinal;
      update jobs_step set status = 'COMMITTED' ${ours};
      commit`);
  }
  // Every store begins with an empty journal: writing over a long one is faster than making it longer.
  database.exec("pragma synchronous = full; pragma wal_checkpoint(truncate)");
  database.close();
}

const OPEN_JOBS = 50;
const worker = { name: "bench", lease_ms: LEASE_MS };

/** A store with finished steps and some open jobs, and one round of claims in it. */
async function prepareClaims(finished: number) {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-bench-"));
  const opened = await openJobs(folder);
  const job = await postFinished(opened, Math.min(finished, MOST_STEPS));
  const open: string[] = [];
  for (let i = 0; i < OPEN_JOBS; i++) open.push(await opened.post(MOST_ROUNDS));
  await copyFinished(opened, job, Math.floor(finished / MOST_STEPS) - 1);
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
  onAsking: true,
  what: "50 claims in a SQLite store with N finished steps",
  baseline: "the same claims with 100 finished steps",
  corpus: "a finished job of up to 1,000 READ steps and its copies, 50 open jobs of 42 steps",
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

const READ_ROUNDS = 10;

export const jobsReadSteps: Bench = {
  name: "jobs-read-steps",
  what: "N READ steps of one job, run by one worker over SQLite",
  baseline: "N durable ledger appends of one entry",
  corpus: "slices of about 40 bytes, all different, already stored",
  sizes: [100, 1_000],
  maxRounds: READ_ROUNDS,
  goal: { kind: "time", atMost: 3 },
  async prepare(size) {
    const folder = mkdtempSync(join(tmpdir(), "verbatim-bench-"));
    const opened = await openJobs(join(folder, "ours"));
    const jobs: string[] = [];
    for (let i = 0; i < READ_ROUNDS + 1; i++) jobs.push(await opened.post(size));
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
