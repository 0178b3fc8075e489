import type { RowOf } from "../../../core/columns.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { Clock } from "../../../core/ports.ts";
import { CANDIDATE, HELD_STEP } from "../../../rooms/jobs/contracts/rows.ts";
import type {
  Candidate,
  ChangeView,
  ClaimView,
  HeldStep,
  JobsReader,
  JobsWriter,
  StepPlace,
} from "../../../rooms/jobs/ports.ts";
import { EACH_STEP, type FindStepIds, NEW_STEP, SqlJobsReader, SqlJobsWriter } from "../jobs.ts";
import { namesOf, toValues } from "../rows.ts";
import type { PostgresReadConnection, PostgresWriteConnection } from "./connection.ts";
import { insertMany, toReadSql, toWriteSql } from "./numbered.ts";

// All machines count leases by the server's clock; a test gives its own time.
const now = (parameter: string) =>
  `coalesce(${parameter}::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint)`;

const lowest = (status: string) => `(select min(ordinal) from jobs_step where job_id = $1 and status = '${status}')`;

const CLAIM_VIEW = `
select breach_ordinal, ${lowest("FAILED")} is not null as failed, ${lowest("PENDING")} as pending,
  ${lowest("LEASED")} as leased,
  (select min(ordinal) from jobs_step where job_id = $1
    and op in ('WRITE', 'EXECUTE') and status <> 'COMMITTED') as barrier,
  ${now("$2")} as now
from jobs_job where job_id = $1`;

// Rows that others hold are being claimed or changed right now; the next free one is as good.
const EXPIRED = `
select ${namesOf(CANDIDATE)} from jobs_step
where job_id = $1 and status = 'LEASED' and lease_expires_ms <= $2 order by ordinal limit 1 for update skip locked`;

const PENDING = `
select ${namesOf(CANDIDATE)} from jobs_step
where job_id = $1 and status = 'PENDING' order by ordinal limit 1 for update skip locked`;

const HOLD = `
select ${namesOf(HELD_STEP)} from jobs_step
where job_id = $1 and ordinal = $2 for update`;

const BEFORE = `
select least(coalesce(${lowest("PENDING")}, $2), coalesce(${lowest("LEASED")}, $2)) >= $2 as ready,
  ${lowest("FAILED")} is not null as failed, ${now("$3")} as now`;

const INSERT_STEPS = insertMany("jobs_step", NEW_STEP, EACH_STEP, "ordinal");
const stepValues = toValues(EACH_STEP);

function toFindStepIds(connection: PostgresReadConnection): FindStepIds {
  const sql = "select step_id from jobs_step where step_id = any ($1::text[])";
  return async (stepIds) => (await connection.all<{ step_id: string }>(sql, stepIds)).map(({ step_id }) => step_id);
}

/** Several writers may be at work, so what is decided about is held. */
class PostgresJobsWriter extends SqlJobsWriter {
  readonly #connection: PostgresWriteConnection;
  readonly #clock: Clock | null;

  constructor(connection: PostgresWriteConnection, clock: Clock | null) {
    super(toWriteSql(connection), toFindStepIds(connection));
    this.#connection = connection;
    this.#clock = clock;
  }

  /** The lock that appending to the stream would take. */
  async hold(stream: string): Promise<void> {
    await this.#connection.get("select 1 from ledger_hold($1)", stream);
  }

  protected async insertSteps(jobId: string, steps: readonly RowOf<typeof EACH_STEP>[]): Promise<void> {
    const rows = steps.map(stepValues);
    const lists = Object.keys(EACH_STEP).map((_, i) => rows.map((row) => row[i]) as string[] | number[]);
    await this.#connection.run(INSERT_STEPS, jobId, "PENDING", 0, ...lists);
  }

  async viewForClaim(jobId: string): Promise<ClaimView & { now: number }> {
    const row = await this.#connection.get<{
      breach_ordinal: number | null;
      failed: boolean;
      pending: number | null;
      leased: number | null;
      barrier: number | null;
      now: number;
    }>(CLAIM_VIEW, jobId, this.#time());
    if (row === undefined) throw new VerbatimError("JOB_UNKNOWN", { details: { job_id: jobId } });
    const { breach_ordinal, failed, pending, leased, barrier } = row;
    const candidates: Candidate[] = [];
    if (leased !== null) candidates.push(...(await this.#connection.all<Candidate>(EXPIRED, jobId, row.now)));
    if (pending !== null) candidates.push(...(await this.#connection.all<Candidate>(PENDING, jobId)));
    candidates.sort((a, b) => a.ordinal - b.ordinal);
    const open = [pending, leased].filter((ordinal) => ordinal !== null);
    return {
      failed,
      lowest: open.length === 0 ? null : Math.min(...open),
      barrier,
      breach_ordinal,
      candidates,
      now: row.now,
    };
  }

  async viewForChange({ job_id, ordinal }: StepPlace): Promise<ChangeView | null> {
    const step = await this.#connection.get<HeldStep>(HOLD, job_id, ordinal);
    if (step === undefined) return null;
    // Asked after the step is held: what others committed while this waited must be seen.
    const before = await this.#connection.get<{ ready: boolean; failed: boolean; now: number }>(
      BEFORE,
      job_id,
      ordinal,
      this.#time(),
    );
    const { ready, failed, now: time } = before!;
    return { step, ready: ready && !failed, failed, now: time };
  }

  #time(): number | null {
    return this.#clock === null ? null : this.#clock.now();
  }
}

/** What the jobs room gets on the transactions of a PostgreSQL store. Leases are counted by the server's clock. */
export function postgresJobs(clock: Clock | null = null) {
  return {
    read: (connection: PostgresReadConnection): JobsReader =>
      new SqlJobsReader(toReadSql(connection), toFindStepIds(connection)),
    write: (connection: PostgresWriteConnection): JobsWriter => new PostgresJobsWriter(connection, clock),
  };
}
