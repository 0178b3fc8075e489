import { VerbatimError } from "../../core/errors/index.ts";
import type {
  ChangeView,
  ClaimView,
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
} from "../../rooms/jobs/ports.ts";
import {
  FACTS,
  STEP,
  type StoredFacts,
  type StoredJob,
  type StoredReceipt,
  type StoredStep,
  toJobFacts,
  toJobRow,
  toReceiptRow,
  toStepRow,
} from "./job-rows.ts";
import type { ReadSql, WriteSql } from "./statements.ts";

const LEASE = `
update jobs_step set status = 'LEASED', lease_owner = ?, lease_expires_ms = ?, fencing_token = ?, touched_ms = ?
where job_id = ? and ordinal = ? returning ${STEP}`;

const END = { SUCCESS: "COMMITTED", FAILURE: "FAILED" } as const;

/** Which of these steps there are; each database asks in its own way. */
export type FindStepIds = (stepIds: readonly string[]) => Promise<string[]>;

/** Reads the tables of the jobs room inside one transaction. */
export class SqlJobsReader<C extends ReadSql = ReadSql> implements JobsReader {
  protected readonly sql: C;
  readonly findStepIds: FindStepIds;

  constructor(sql: C, findStepIds: FindStepIds) {
    this.sql = sql;
    this.findStepIds = findStepIds;
  }

  async job(jobId: string): Promise<JobRow | null> {
    const sql = `select ${FACTS}, j.message from jobs_job j where j.job_id = ?`;
    const row = await this.sql.get<StoredJob>(sql, jobId);
    return row === undefined ? null : toJobRow(row);
  }

  async facts(jobId: string): Promise<JobFacts | null> {
    const sql = `select ${FACTS} from jobs_job j where j.job_id = ?`;
    const row = await this.sql.get<StoredFacts>(sql, jobId);
    return row === undefined ? null : toJobFacts(row);
  }

  async jobsAfter(number: number, limit: number): Promise<JobFacts[]> {
    const sql = `select ${FACTS} from jobs_job j where j.number > ? order by j.number limit ?`;
    return (await this.sql.all<StoredFacts>(sql, number, limit)).map(toJobFacts);
  }

  async openJobsAfter(number: number, limit: number): Promise<JobFacts[]> {
    const sql = `
      select ${FACTS} from jobs_open o join jobs_job j on j.number = o.number
      where o.number > ? order by o.number limit ?`;
    return (await this.sql.all<StoredFacts>(sql, number, limit)).map(toJobFacts);
  }

  async steps(jobId: string): Promise<StepRow[]> {
    const sql = `select ${STEP} from jobs_step where job_id = ? order by ordinal`;
    return (await this.sql.all<StoredStep>(sql, jobId)).map(toStepRow);
  }

  async step(jobId: string, ordinal: number): Promise<StepRow | null> {
    const sql = `select ${STEP} from jobs_step where job_id = ? and ordinal = ?`;
    const row = await this.sql.get<StoredStep>(sql, jobId, ordinal);
    return row === undefined ? null : toStepRow(row);
  }

  async pendingSteps(jobId: string, limit: number): Promise<StepRow[]> {
    const sql = `select ${STEP} from jobs_step where job_id = ? and status = 'PENDING' order by ordinal limit ?`;
    return (await this.sql.all<StoredStep>(sql, jobId, limit)).map(toStepRow);
  }

  async countSteps(jobId: string): Promise<StepCounts> {
    const sql = "select status, count(*) as count from jobs_step where job_id = ? group by status";
    const rows = await this.sql.all<{ status: keyof StepCounts; count: number }>(sql, jobId);
    const counts = { PENDING: 0, LEASED: 0, COMMITTED: 0, FAILED: 0 };
    for (const { status, count } of rows) counts[status] = count;
    return counts;
  }

  async receipts(jobId: string): Promise<ReceiptRow[]> {
    const sql = "select step_id, ordinal, receipt, receipt_hash from jobs_receipt where job_id = ? order by ordinal";
    return (await this.sql.all<StoredReceipt>(sql, jobId)).map(toReceiptRow);
  }

  async receipt(receiptHash: string): Promise<(ReceiptRow & { readonly job_id: string }) | null> {
    const sql =
      "select job_id, step_id, ordinal, receipt, receipt_hash from jobs_receipt where receipt_hash = ? limit 1";
    const row = await this.sql.get<StoredReceipt & { readonly job_id: string }>(sql, receiptHash);
    return row === undefined ? null : { ...toReceiptRow(row), job_id: row.job_id };
  }
}

/** Writes them as well. Claiming and watching steps, and rows in great numbers, are each database's own. */
export abstract class SqlJobsWriter extends SqlJobsReader<WriteSql> implements JobsWriter {
  abstract hold(stream: string): Promise<void>;
  abstract insertJob(job: NewJob, steps: readonly NewStep[]): Promise<void>;
  abstract viewForClaim(jobId: string): Promise<ClaimView & { now: number }>;
  abstract viewForChange(place: StepPlace): Promise<ChangeView | null>;
  abstract wake(jobId: string): Promise<void>;

  async lease({ job_id, ordinal, lease_owner, lease_expires_ms, fencing_token, now }: NewLease): Promise<StepRow> {
    const values = [lease_owner, lease_expires_ms, fencing_token, now, job_id, ordinal] as const;
    // SQLite has answered already: here and in `settle`, which every step goes through, it is not waited for.
    const found = this.sql.get<StoredStep>(LEASE, ...values);
    const row = found instanceof Promise ? await found : found;
    if (row === undefined) throw new VerbatimError("STEP_UNKNOWN", { details: { job_id, ordinal } });
    return toStepRow(row);
  }

  async settle(settlement: Settlement): Promise<void> {
    const { step_id, job_id, ordinal, status, receipt_hash, receipt, now } = settlement;
    const adding = this.sql.run(
      "insert into jobs_receipt (step_id, job_id, ordinal, status, receipt_hash, receipt) values (?, ?, ?, ?, ?, ?)",
      step_id,
      job_id,
      ordinal,
      status,
      receipt_hash,
      receipt,
    );
    if (adding instanceof Promise) await adding;
    const sql = "update jobs_step set status = ?, touched_ms = ? where job_id = ? and ordinal = ?";
    const ending = this.sql.run(sql, END[status], now, job_id, ordinal);
    if (ending instanceof Promise) await ending;
  }
}
