import { VerbatimError } from "../../../core/errors/index.ts";
import type { Clock } from "../../../core/ports.ts";
import type {
  Candidate,
  ChangeView,
  ClaimView,
  HeldStep,
  JobFacts,
  JobRow,
  JobsReader,
  JobsWriter,
  NewJob,
  NewLease,
  NewStep,
  ReceiptRow,
  Settlement,
  StepCounts,
  StepPlace,
  StepRow,
} from "../../../rooms/jobs/ports.ts";
import {
  FACTS,
  fromJob,
  fromStep,
  STEP,
  type StoredFacts,
  type StoredJob,
  type StoredReceipt,
  type StoredStep,
  toJobFacts,
  toJobRow,
  toReceiptRow,
  toStepRow,
} from "../job-rows.ts";
import type { SqliteReadConnection, SqliteWriteConnection } from "./connection.ts";

const lowest = (status: string) => `(select min(ordinal) from jobs_step where job_id = ?1 and status = '${status}')`;

const CLAIM_VIEW = `
select breach_ordinal, ${lowest("FAILED")} is not null as failed, ${lowest("PENDING")} as pending,
  ${lowest("LEASED")} as leased,
  (select min(ordinal) from jobs_step indexed by jobs_step_barrier where job_id = ?1
    and op in ('WRITE', 'EXECUTE') and status <> 'COMMITTED') as barrier
from jobs_job where job_id = ?1`;

const EXPIRED = `
select ordinal, status, lease_expires_ms, fencing_token from jobs_step
where job_id = ? and status = 'LEASED' and lease_expires_ms <= ? order by ordinal limit 1`;

const CHANGE_VIEW = `
select status, lease_owner, lease_expires_ms, fencing_token,
  min(coalesce(${lowest("PENDING")}, ?2), coalesce(${lowest("LEASED")}, ?2)) >= ?2 as ready,
  ${lowest("FAILED")} is not null as failed
from jobs_step where job_id = ?1 and ordinal = ?2`;

const LEASE = `
update jobs_step set status = 'LEASED', lease_owner = ?, lease_expires_ms = ?, fencing_token = ?, touched_ms = ?
where job_id = ? and ordinal = ? returning ${STEP}`;

const END = { SUCCESS: "COMMITTED", FAILURE: "FAILED" } as const;

/** The tables of the jobs room inside one read transaction. */
class SqliteJobsReader implements JobsReader {
  readonly #connection: SqliteReadConnection;

  constructor(connection: SqliteReadConnection) {
    this.#connection = connection;
  }

  async job(jobId: string): Promise<JobRow | null> {
    const sql = `select ${FACTS}, j.message from jobs_job j where j.job_id = ?`;
    const row = this.#connection.get<StoredJob>(sql, jobId);
    return row === undefined ? null : toJobRow(row);
  }

  async facts(jobId: string): Promise<JobFacts | null> {
    const sql = `select ${FACTS} from jobs_job j where j.job_id = ?`;
    const row = this.#connection.get<StoredFacts>(sql, jobId);
    return row === undefined ? null : toJobFacts(row);
  }

  async jobsAfter(number: number, limit: number): Promise<JobFacts[]> {
    const sql = `select ${FACTS} from jobs_job j where j.number > ? order by j.number limit ?`;
    return this.#connection.all<StoredFacts>(sql, number, limit).map(toJobFacts);
  }

  async openJobsAfter(number: number, limit: number): Promise<JobFacts[]> {
    const sql = `
      select ${FACTS} from jobs_open o join jobs_job j on j.number = o.number
      where o.number > ? order by o.number limit ?`;
    return this.#connection.all<StoredFacts>(sql, number, limit).map(toJobFacts);
  }

  async steps(jobId: string): Promise<StepRow[]> {
    const sql = `select ${STEP} from jobs_step where job_id = ? order by ordinal`;
    return this.#connection.all<StoredStep>(sql, jobId).map(toStepRow);
  }

  async step(jobId: string, ordinal: number): Promise<StepRow | null> {
    const sql = `select ${STEP} from jobs_step where job_id = ? and ordinal = ?`;
    const row = this.#connection.get<StoredStep>(sql, jobId, ordinal);
    return row === undefined ? null : toStepRow(row);
  }

  async pendingSteps(jobId: string, limit: number): Promise<StepRow[]> {
    const sql = `select ${STEP} from jobs_step where job_id = ? and status = 'PENDING' order by ordinal limit ?`;
    return this.#connection.all<StoredStep>(sql, jobId, limit).map(toStepRow);
  }

  async countSteps(jobId: string): Promise<StepCounts> {
    const sql = "select status, count(*) as count from jobs_step where job_id = ? group by status";
    const rows = this.#connection.all<{ status: keyof StepCounts; count: number }>(sql, jobId);
    const counts = { PENDING: 0, LEASED: 0, COMMITTED: 0, FAILED: 0 };
    for (const { status, count } of rows) counts[status] = count;
    return counts;
  }

  async receipts(jobId: string): Promise<ReceiptRow[]> {
    const sql = "select step_id, ordinal, receipt, receipt_hash from jobs_receipt where job_id = ? order by ordinal";
    return this.#connection.all<StoredReceipt>(sql, jobId).map(toReceiptRow);
  }

  async receipt(receiptHash: string): Promise<(ReceiptRow & { readonly job_id: string }) | null> {
    const sql =
      "select job_id, step_id, ordinal, receipt, receipt_hash from jobs_receipt where receipt_hash = ? limit 1";
    const row = this.#connection.get<StoredReceipt & { readonly job_id: string }>(sql, receiptHash);
    return row === undefined ? null : { ...toReceiptRow(row), job_id: row.job_id };
  }

  async findStepIds(stepIds: readonly string[]): Promise<string[]> {
    const sql = "select step_id from jobs_step where step_id = ?";
    return stepIds.filter((id) => this.#connection.get(sql, id) !== undefined);
  }
}

/** The same inside a write transaction, which no other one overlaps: nothing more has to be held. */
class SqliteJobsWriter extends SqliteJobsReader implements JobsWriter {
  readonly #connection: SqliteWriteConnection;
  readonly #clock: Clock;

  constructor(connection: SqliteWriteConnection, clock: Clock) {
    super(connection);
    this.#connection = connection;
    this.#clock = clock;
  }

  /** There is one writer at a time, and it holds everything. */
  async hold(): Promise<void> {}

  async insertJob(job: NewJob, steps: readonly NewStep[]): Promise<void> {
    this.#connection.run(
      `insert into jobs_job (job_id, run_id, message_id, plan_hash, step_count, breach_ordinal, breach, intent, message)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...Object.values(fromJob(job, steps.length)),
    );
    const sql = `insert into jobs_step (job_id, ordinal, step_id, op, step, resolved, status, fencing_token)
      values (?, ?, ?, ?, ?, ?, 'PENDING', 0)`;
    for (const step of steps) this.#connection.run(sql, job.job_id, ...Object.values(fromStep(step)));
  }

  async viewForClaim(jobId: string): Promise<ClaimView & { now: number }> {
    const now = this.#clock.now();
    const row = this.#connection.get<{
      breach_ordinal: number | null;
      failed: number;
      pending: number | null;
      leased: number | null;
      barrier: number | null;
    }>(CLAIM_VIEW, jobId);
    if (row === undefined) throw new VerbatimError("JOB_UNKNOWN", { details: { job_id: jobId } });
    const { breach_ordinal, failed, pending, leased, barrier } = row;
    const candidates: Candidate[] = leased === null ? [] : this.#connection.all<Candidate>(EXPIRED, jobId, now);
    // A step that was never claimed has no lease and token 0.
    if (pending !== null) {
      candidates.push({ ordinal: pending, status: "PENDING", lease_expires_ms: null, fencing_token: 0 });
    }
    candidates.sort((a, b) => a.ordinal - b.ordinal);
    const open = [pending, leased].filter((ordinal) => ordinal !== null);
    return {
      failed: failed === 1,
      lowest: open.length === 0 ? null : Math.min(...open),
      barrier,
      breach_ordinal,
      candidates,
      now,
    };
  }

  async viewForChange({ job_id, ordinal }: StepPlace): Promise<ChangeView | null> {
    const row = this.#connection.get<HeldStep & { ready: number; failed: number }>(CHANGE_VIEW, job_id, ordinal);
    if (row === undefined) return null;
    const { ready, failed, ...step } = row;
    return { step, ready: ready === 1 && failed === 0, failed: failed === 1, now: this.#clock.now() };
  }

  async lease({ job_id, ordinal, lease_owner, lease_expires_ms, fencing_token, now }: NewLease): Promise<StepRow> {
    const values = [lease_owner, lease_expires_ms, fencing_token, now, job_id, ordinal] as const;
    const row = this.#connection.get<StoredStep>(LEASE, ...values);
    if (row === undefined) throw new VerbatimError("STEP_UNKNOWN", { details: { job_id, ordinal } });
    return toStepRow(row);
  }

  async settle(settlement: Settlement): Promise<void> {
    const { step_id, job_id, ordinal, status, receipt_hash, receipt, now } = settlement;
    this.#connection.run(
      "insert into jobs_receipt (step_id, job_id, ordinal, status, receipt_hash, receipt) values (?, ?, ?, ?, ?, ?)",
      step_id,
      job_id,
      ordinal,
      status,
      receipt_hash,
      receipt,
    );
    const sql = "update jobs_step set status = ?, touched_ms = ? where job_id = ? and ordinal = ?";
    this.#connection.run(sql, END[status], now, job_id, ordinal);
  }

  /** Nobody can listen to a file; workers look from time to time. */
  async wake(): Promise<void> {}
}

/** What the jobs room gets on the doors of a SQLite store. Leases are counted by this machine's clock. */
export function sqliteJobs(clock: Clock) {
  return {
    read: (connection: SqliteReadConnection): JobsReader => new SqliteJobsReader(connection),
    write: (connection: SqliteWriteConnection): JobsWriter => new SqliteJobsWriter(connection, clock),
  };
}
