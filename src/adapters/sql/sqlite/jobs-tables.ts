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
import { insertInto, namesOf, toValues } from "../rows.ts";
import type { SqliteReadConnection, SqliteWriteConnection } from "./connection.ts";

const lowest = (status: string) => `(select min(ordinal) from jobs_step where job_id = ?1 and status = '${status}')`;

const CLAIM_VIEW = `
select breach_ordinal, ${lowest("FAILED")} is not null as failed, ${lowest("PENDING")} as pending,
  ${lowest("LEASED")} as leased,
  (select min(ordinal) from jobs_step indexed by jobs_step_barrier where job_id = ?1
    and op in ('WRITE', 'EXECUTE') and status <> 'COMMITTED') as barrier
from jobs_job where job_id = ?1`;

const EXPIRED = `
select ${namesOf(CANDIDATE)} from jobs_step
where job_id = ? and status = 'LEASED' and lease_expires_ms <= ? order by ordinal limit 1`;

const CHANGE_VIEW = `
select ${namesOf(HELD_STEP)},
  min(coalesce(${lowest("PENDING")}, ?2), coalesce(${lowest("LEASED")}, ?2)) >= ?2 as ready,
  ${lowest("FAILED")} is not null as failed
from jobs_step where job_id = ?1 and ordinal = ?2`;

const INSERT_STEP = insertInto("jobs_step", { ...EACH_STEP, ...NEW_STEP });
const stepValues = toValues(EACH_STEP);

function toFindStepIds(connection: SqliteReadConnection): FindStepIds {
  const sql = "select step_id from jobs_step where step_id = ?";
  return async (stepIds) => stepIds.filter((id) => connection.get(sql, id) !== undefined);
}

/** A write transaction overlaps no other one: nothing more has to be held. */
class SqliteJobsWriter extends SqlJobsWriter {
  readonly #connection: SqliteWriteConnection;
  readonly #clock: Clock;

  constructor(connection: SqliteWriteConnection, clock: Clock) {
    super(connection, toFindStepIds(connection));
    this.#connection = connection;
    this.#clock = clock;
  }

  /** There is one writer at a time, and it holds everything. */
  async hold(): Promise<void> {}

  protected async insertSteps(jobId: string, steps: readonly RowOf<typeof EACH_STEP>[]): Promise<void> {
    for (const step of steps) this.#connection.run(INSERT_STEP, ...stepValues(step), jobId, "PENDING", 0);
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
}

/** What the jobs room gets on the transactions of a SQLite store. Leases are counted by this machine's clock. */
export function sqliteJobs(clock: Clock) {
  return {
    read: (connection: SqliteReadConnection): JobsReader => new SqlJobsReader(connection, toFindStepIds(connection)),
    write: (connection: SqliteWriteConnection): JobsWriter => new SqliteJobsWriter(connection, clock),
  };
}
