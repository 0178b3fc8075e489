import type { RowOf } from "../../core/columns.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import { HELD_STEP, JOB, JOB_FACTS, LEASE, PLANNED_STEP, RECEIPT, STEP } from "../../rooms/jobs/contracts/rows.ts";
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
import { assignmentsOf, insertInto, namesOf, type StoredRow, toReader, toValues } from "./rows.ts";
import type { ReadSql, WriteSql } from "./statements.ts";

const FACT_NAMES = namesOf(JOB_FACTS, "j");
const STEP_NAMES = namesOf(STEP);
const RECEIPT_NAMES = namesOf(RECEIPT);
const readFacts = toReader(JOB_FACTS);
const readJob = toReader(JOB);
const readStep = toReader(STEP);
const readReceipt = toReader(RECEIPT);
const leaseValues = toValues(LEASE);

/** The database numbers jobs itself. */
const { number: _, ...NEW_JOB } = JOB;
const INSERT_JOB = insertInto("jobs_job", NEW_JOB);
const newJobValues = toValues(NEW_JOB);

/** A list of intents needs no more of each than this. */
const INTENT_LENGTH = 200;

const SET_LEASE = `
update jobs_step set status = 'LEASED', ${assignmentsOf(LEASE)}, touched_ms = ?
where job_id = ? and ordinal = ? returning ${STEP_NAMES}`;

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
    const sql = `select ${FACT_NAMES}, j.message from jobs_job j where j.job_id = ?`;
    const row = await this.sql.get<StoredRow>(sql, jobId);
    return row === undefined ? null : readJob(row);
  }

  async facts(jobId: string): Promise<JobFacts | null> {
    const sql = `select ${FACT_NAMES} from jobs_job j where j.job_id = ?`;
    const row = await this.sql.get<StoredRow>(sql, jobId);
    return row === undefined ? null : readFacts(row);
  }

  async jobsAfter(number: number, limit: number): Promise<JobFacts[]> {
    const sql = `select ${FACT_NAMES} from jobs_job j where j.number > ? order by j.number limit ?`;
    return (await this.sql.all<StoredRow>(sql, number, limit)).map(readFacts);
  }

  async openJobsAfter(number: number, limit: number): Promise<JobFacts[]> {
    const sql = `
      select ${FACT_NAMES} from jobs_open o join jobs_job j on j.number = o.number
      where o.number > ? order by o.number limit ?`;
    return (await this.sql.all<StoredRow>(sql, number, limit)).map(readFacts);
  }

  async steps(jobId: string): Promise<StepRow[]> {
    const sql = `select ${STEP_NAMES} from jobs_step where job_id = ? order by ordinal`;
    return (await this.sql.all<StoredRow>(sql, jobId)).map(readStep);
  }

  async step(jobId: string, ordinal: number): Promise<StepRow | null> {
    const sql = `select ${STEP_NAMES} from jobs_step where job_id = ? and ordinal = ?`;
    const row = await this.sql.get<StoredRow>(sql, jobId, ordinal);
    return row === undefined ? null : readStep(row);
  }

  async pendingSteps(jobId: string, limit: number): Promise<StepRow[]> {
    const sql = `select ${STEP_NAMES} from jobs_step where job_id = ? and status = 'PENDING' order by ordinal limit ?`;
    return (await this.sql.all<StoredRow>(sql, jobId, limit)).map(readStep);
  }

  async countSteps(jobId: string): Promise<StepCounts> {
    const sql = "select status, count(*) as count from jobs_step where job_id = ? group by status";
    const rows = await this.sql.all<{ status: keyof StepCounts; count: number }>(sql, jobId);
    const counts = { PENDING: 0, LEASED: 0, COMMITTED: 0, FAILED: 0 };
    for (const { status, count } of rows) counts[status] = count;
    return counts;
  }

  async receipts(jobId: string): Promise<ReceiptRow[]> {
    const sql = `select ${RECEIPT_NAMES} from jobs_receipt where job_id = ? order by ordinal`;
    return (await this.sql.all<StoredRow>(sql, jobId)).map(readReceipt);
  }

  async receipt(receiptHash: string): Promise<(ReceiptRow & { readonly job_id: string }) | null> {
    const sql = `select job_id, ${RECEIPT_NAMES} from jobs_receipt where receipt_hash = ? limit 1`;
    const row = await this.sql.get<StoredRow & { readonly job_id: string }>(sql, receiptHash);
    return row === undefined ? null : { ...readReceipt(row), job_id: row.job_id };
  }
}

const { job_id, ...each } = PLANNED_STEP;
/** What is inserted of each step of a new job, and what is the same for all: where they are, and that nobody had them. */
export const EACH_STEP = each;
export const NEW_STEP = { job_id, status: HELD_STEP.status, fencing_token: HELD_STEP.fencing_token } as const;

/** Writes them as well. Claiming and watching steps, and rows in great numbers, are each database's own. */
export abstract class SqlJobsWriter extends SqlJobsReader<WriteSql> implements JobsWriter {
  abstract hold(stream: string): Promise<void>;
  protected abstract insertSteps(jobId: string, steps: readonly RowOf<typeof EACH_STEP>[]): Promise<void>;
  abstract viewForClaim(jobId: string): Promise<ClaimView & { now: number }>;
  abstract viewForChange(place: StepPlace): Promise<ChangeView | null>;

  async insertJob(job: NewJob, steps: readonly NewStep[]): Promise<void> {
    const values = newJobValues({
      ...job,
      step_count: steps.length,
      intent: [...job.message.intent.slice(0, 2 * INTENT_LENGTH)].slice(0, INTENT_LENGTH).join(""),
      breach_ordinal: job.breach?.ordinal ?? null,
    });
    await this.sql.run(INSERT_JOB, ...values);
    await this.insertSteps(
      job.job_id,
      steps.map(({ step, resolved }) => ({
        ordinal: step.ordinal,
        step_id: step.step_id,
        op: step.op,
        step,
        resolved,
      })),
    );
  }

  async lease(lease: NewLease): Promise<StepRow> {
    const { job_id, ordinal, now } = lease;
    const values = [...leaseValues(lease), now, job_id, ordinal];
    // SQLite has answered already: here and in `settle`, which every step goes through, it is not waited for.
    const found = this.sql.get<StoredRow>(SET_LEASE, ...values);
    const row = found instanceof Promise ? await found : found;
    if (row === undefined) throw new VerbatimError("STEP_UNKNOWN", { details: { job_id, ordinal } });
    return readStep(row);
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
