import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hashCanonical, type JsonValue } from "../../src/core/canonical/index.ts";
import type { JobRow, StepRow } from "../../src/rooms/jobs/ports.ts";
import { claimStep, finishStep, toHeld } from "../../src/rooms/jobs/steps/queue.ts";
import { toReadOutcome } from "../../src/rooms/jobs/steps/receipt.ts";
import { makeMessage, read } from "../support/job-corpus.ts";
import { type JobHarness, type JobPortsOfTest, post, RUN } from "../support/job-store.ts";

const TTL = 1000;
const WORKER = { name: "mira", lease_ms: TTL };
const TABLES = ["jobs_job", "jobs_step", "jobs_receipt", "jobs_open"];

/**
 * What the database refuses by itself, through a plain connection of its owner: every transition of a step that the
 * lease rules do not have, every change of what was planned, and every second receipt.
 */
export function describeEnforcement(
  create: () => Promise<JobHarness>,
  dialect: {
    /** Ways to insert where a row may be already, of rows that a select gives. */
    readonly inserts: readonly ((table: string, rows: string) => string)[];
    readonly changes: readonly ((table: string, column: string) => string)[];
    /** Statements before each attack: settings with which it must fail as well. */
    readonly settings: readonly string[];
  },
): void {
  let harness: JobHarness;
  let ports: JobPortsOfTest;
  let jobId: string;
  let now: number;

  beforeEach(async () => {
    harness = await create();
    ports = await harness.open();
    now = harness.clock.now();
    const budgets = { ...makeMessage([]).budgets, max_expands_per_step: 4 };
    jobId = await post(
      ports,
      makeMessage(
        Array.from({ length: 6 }, () => read("@TOOLS/BELL")),
        { budgets },
      ),
    );
    // Step 1 is committed, step 2 leased, the others are pending; step 5 breaks the budget.
    const row = await claim();
    await finishStep(ports, toHeld(row, WORKER), toReadOutcome(RUN, row));
    await claim();
  });

  afterEach(async () => {
    await harness.destroy();
  });

  const claim = async () => (await claimStep(ports, { job_id: jobId }, WORKER)) as StepRow;
  const everything = () => Promise.all(TABLES.map((table) => harness.raw(`select * from ${table} order by 1, 2`)));

  async function expectAllRefused(attacks: readonly string[], ...first: string[]): Promise<void> {
    const before = await everything();
    for (const setting of dialect.settings) {
      for (const attack of attacks) {
        const result = await harness.raw(setting, ...first, attack).catch((thrown: unknown) => thrown);
        expect(harness.isRefusal(result), `${setting}; ${attack}\n${String(result)}`).toBe(true);
      }
    }
    expect(await everything()).toEqual(before);
  }

  const update = (ordinal: number, set: string) =>
    `update jobs_step set ${set} where job_id = '${jobId}' and ordinal = ${ordinal}`;

  const lease = (ordinal: number, owner: string | null, expires: number, token: number, at: number | null) =>
    update(
      ordinal,
      `status = 'LEASED', lease_owner = ${owner === null ? "null" : `'${owner}'`}, lease_expires_ms = ${expires},
       fencing_token = ${token}, touched_ms = ${at === null ? "null" : at}`,
    );

  /** Inserts a receipt that fits a step's table row, with this status in column and text. */
  const receiptRows = (ordinal: number, status: string, text = status) =>
    `select step_id, job_id, ordinal, '${status}', '${"0".repeat(64)}',
       '{"status":"${text}","step_id":"' || step_id || '"}' from jobs_step where job_id = '${jobId}' and ordinal = ${ordinal}`;

  describe("claims and renewals", () => {
    it("are refused unless owner, expiry and the next token are right", async () => {
      await expectAllRefused([
        lease(3, null, now + TTL, 1, now),
        lease(3, "mira", now + TTL, 0, now),
        lease(3, "mira", now + TTL, 2, now),
        lease(3, "mira", now, 1, now),
        lease(3, "mira", now - 1, 1, now),
        lease(3, "mira", now + TTL, 1, null),
        lease(3, "", now + TTL, 1, now),
        update(3, "status = 'LEASED'"),
      ]);
      await harness.raw(lease(3, "mira", now + TTL, 1, now));
    });

    it("are refused for a lease that has not ended, or has ended, or is another's", async () => {
      await expectAllRefused([
        lease(2, "tomas", now + 2 * TTL, 2, now + TTL - 1),
        lease(2, "tomas", now + 2 * TTL, 1, now + 1),
        lease(2, "mira", now + 2 * TTL, 1, now + TTL),
        lease(2, "mira", now + 2 * TTL, 0, now + 1),
        lease(2, "mira", now + 2 * TTL, 3, now + TTL),
      ]);
      await harness.raw(lease(2, "mira", now + TTL + 5, 1, now + 5));
      await harness.raw(lease(2, "tomas", now + 3 * TTL, 2, now + TTL + 5));
    });

    it("are refused for a step that is final", async () => {
      await expectAllRefused([lease(1, "mira", now + 9 * TTL, 2, now + 5 * TTL), lease(1, "mira", now + TTL, 1, now)]);
    });
  });

  describe("the end of a step", () => {
    it("is refused without its receipt", async () => {
      await expectAllRefused([
        update(2, `status = 'COMMITTED', touched_ms = ${now}`),
        update(2, `status = 'FAILED', touched_ms = ${now}`),
      ]);
    });

    it("is refused with a receipt that says something else", async () => {
      await harness.raw(dialect.inserts[0]!("jobs_receipt", receiptRows(2, "FAILURE")));
      await expectAllRefused([update(2, `status = 'COMMITTED', touched_ms = ${now}`)]);
      await harness.raw(update(2, `status = 'FAILED', touched_ms = ${now}`));
    });

    it("is refused when the lease is changed with it, has ended, or its time is not said", async () => {
      await harness.raw(dialect.inserts[0]!("jobs_receipt", receiptRows(2, "SUCCESS")));
      await expectAllRefused([
        update(2, `status = 'COMMITTED', touched_ms = ${now + TTL}`),
        update(2, "status = 'COMMITTED', touched_ms = null"),
        update(2, `status = 'COMMITTED', touched_ms = ${now}, lease_owner = 'tomas'`),
        update(2, `status = 'COMMITTED', touched_ms = ${now}, lease_owner = null`),
        update(2, `status = 'COMMITTED', touched_ms = ${now}, fencing_token = 2`),
        update(2, `status = 'COMMITTED', touched_ms = ${now}, lease_expires_ms = ${now + 5 * TTL}`),
        update(2, `status = 'COMMITTED', touched_ms = ${now}, lease_expires_ms = null`),
      ]);
      await harness.raw(update(2, `status = 'COMMITTED', touched_ms = ${now}`));
    });

    it("is refused before the steps before it are committed, and behind a failed one for ever", async () => {
      await harness.raw(lease(3, "mira", now + TTL, 1, now));
      await harness.raw(dialect.inserts[0]!("jobs_receipt", receiptRows(3, "SUCCESS")));
      await expectAllRefused([update(3, `status = 'COMMITTED', touched_ms = ${now}`)]);
      await harness.raw(dialect.inserts[0]!("jobs_receipt", receiptRows(2, "FAILURE")));
      await harness.raw(update(2, `status = 'FAILED', touched_ms = ${now}`));
      await expectAllRefused([update(3, `status = 'COMMITTED', touched_ms = ${now}`)]);
    });

    it("is final, and there is no way back to PENDING from anywhere", async () => {
      await expectAllRefused([
        ...["PENDING", "LEASED", "FAILED"].map((status) => update(1, `status = '${status}', touched_ms = ${now}`)),
        ...[1, 2, 3].map((ordinal) => update(ordinal, "status = 'PENDING'")),
        update(2, "status = 'PENDING', lease_owner = null, lease_expires_ms = null, fencing_token = 0"),
        update(3, "status = 'DONE'"),
        update(3, "status = null"),
        update(3, `status = 'COMMITTED', touched_ms = ${now}`),
      ]);
    });

    it("is never COMMITTED for a step that breaks a budget", async () => {
      for (const ordinal of [2, 3, 4, 5]) {
        if (ordinal > 2) await harness.raw(lease(ordinal, "mira", now + TTL, 1, now));
        await harness.raw(dialect.inserts[0]!("jobs_receipt", receiptRows(ordinal, "SUCCESS")));
        if (ordinal < 5) await harness.raw(update(ordinal, `status = 'COMMITTED', touched_ms = ${now}`));
      }
      await expectAllRefused([update(5, `status = 'COMMITTED', touched_ms = ${now}`)]);
    });
  });

  it("what was planned is frozen, column by column", async () => {
    await expectAllRefused([
      update(3, "job_id = 'job_other'"),
      update(3, "ordinal = 9"),
      update(3, "step_id = 'other'"),
      update(3, "op = 'WRITE'"),
      update(3, "step = '{}'"),
      update(3, "resolved = '{}'"),
      lease(3, "mira", now + TTL, 1, now).replace("status = 'LEASED'", "status = 'LEASED', step = '{}'"),
    ]);
  });

  it("steps are neither added to a job nor removed from it", async () => {
    const rows = (ordinal: string, step: string, status = "'PENDING'", job = `'${jobId}'`) =>
      `select ${job}, ${ordinal}, ${step}, op, step, resolved, ${status}, null, null, 0, null
       from jobs_step where job_id = '${jobId}' and ordinal = 3`;
    const attacks = [
      rows("7", "'new'"),
      rows("3", "'new'"),
      rows("9", "'new'"),
      rows("7", "step_id"),
      rows("1", "'new'", "'PENDING'", "'job_none'"),
    ];
    await expectAllRefused(attacks.flatMap((one) => dialect.inserts.map((insert) => insert("jobs_step", one))));
    await expectAllRefused(["delete from jobs_step", `delete from jobs_step where ordinal = 6`]);
  });

  it("a receipt is inserted once, for a leased step, with the status its text has", async () => {
    const insertAll = (rows: string) => dialect.inserts.map((insert) => insert("jobs_receipt", rows));
    await expectAllRefused([
      ...insertAll(receiptRows(1, "SUCCESS")),
      ...insertAll(receiptRows(1, "FAILURE")),
      ...insertAll(receiptRows(3, "SUCCESS")),
      ...insertAll(receiptRows(2, "PARTIAL")),
      ...insertAll(receiptRows(2, "SUCCESS", "FAILURE")),
      ...insertAll(receiptRows(2, "SUCCESS").replace("|| step_id ||", "|| job_id ||")),
      ...insertAll(receiptRows(2, "SUCCESS").replace("job_id, ordinal,", "job_id, 3,")),
      ...insertAll(receiptRows(2, "SUCCESS").replace("select step_id", "select 'other'")),
    ]);
    await harness.raw(dialect.inserts[0]!("jobs_receipt", receiptRows(2, "SUCCESS")));
    await expectAllRefused([...insertAll(receiptRows(2, "SUCCESS")), ...insertAll(receiptRows(2, "FAILURE"))]);
  });

  it("jobs and receipts are append-only", async () => {
    const columns = { jobs_job: "message", jobs_receipt: "receipt" };
    await expectAllRefused(
      Object.entries(columns).flatMap(([table, column]) => dialect.changes.map((change) => change(table, column))),
    );
    await expectAllRefused([
      "update jobs_receipt set status = 'FAILURE'",
      "update jobs_job set breach_ordinal = null, breach = null",
    ]);
  });

  it("a job that has work left cannot be taken off the list of open jobs, nor put on it twice", async () => {
    await expectAllRefused([
      "delete from jobs_open",
      "update jobs_open set number = 99",
      ...dialect.inserts.map((insert) => insert("jobs_open", "select number, job_id from jobs_open where true")),
    ]);
  });

  it("a receipt's hash is that of its text", async () => {
    const rows = await harness.raw("select receipt, receipt_hash from jobs_receipt");
    for (const { receipt, receipt_hash } of rows) {
      expect(hashCanonical(ports.crypto, JSON.parse(String(receipt)) as JsonValue)).toBe(receipt_hash);
    }
    expect(rows).toHaveLength(1);
  });

  it("the job is as it was posted after all attacks", async () => {
    const job = (await ports.store.read(({ jobs }) => jobs.job(jobId))) as JobRow;
    expect(job).toMatchObject({ step_count: 6, breach_ordinal: 5, breach: { code: "BUDGET_EXPANDS" } });
  });
}
