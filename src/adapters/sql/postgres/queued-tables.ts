import type {
  LandRow,
  NewLanding,
  NewQueuedRun,
  QueuedReader,
  QueuedResult,
  QueuedRow,
  QueuedWriter,
} from "../../../rooms/jobs/ports.ts";
import type { PostgresReadConnection, PostgresWriteConnection } from "./connection.ts";

const NOW_MS = "floor(extract(epoch from clock_timestamp()) * 1000)::bigint";
const RUN = "run_id, request, request_sha256, goal, repository_id, base_commit, needs, tries, asked_by";
const RESULT =
  "run_id, state, reason, worker, files, added, deleted, candidate, commit_id, tree, ref, package, duration_ms";
const LANDING = "land_id, kind, subject, repository_id, ref, source, onto, asked_by";

type StoredRun = Omit<QueuedRow, "starts" | "worker" | "result"> & {
  readonly starts: number;
  readonly last_worker: string | null;
};

class PostgresQueuedReader<C extends PostgresReadConnection> implements QueuedReader {
  protected readonly connection: C;

  constructor(connection: C) {
    this.connection = connection;
  }

  async runs(limit: number): Promise<QueuedRow[]> {
    return this.#read("order by asked_ms desc, run_id desc limit $1", limit);
  }

  async run(runId: string): Promise<QueuedRow | null> {
    return (await this.#read("where run_id = $1", runId))[0] ?? null;
  }

  async findRuns(text: string): Promise<string[]> {
    const sql = "select run_id from agent_request where starts_with(run_id, $1) or right(run_id, length($1)) = $1";
    return (await this.connection.all<{ run_id: string }>(`${sql} order by run_id`, text)).map((row) => row.run_id);
  }

  async #read(where: string, ...values: (string | number)[]): Promise<QueuedRow[]> {
    const rows = await this.connection.all<StoredRun>(
      `select run_id, request, request_sha256, goal, repository_id::text as repository_id, base_commit, needs, tries,
         asked_by, asked_ms,
         (select count(*) from agent_start s where s.run_id = r.run_id)::int as starts,
         (select s.worker from agent_start s where s.run_id = r.run_id order by s.n desc limit 1) as last_worker
       from agent_request r ${where}`,
      ...values,
    );
    const found: QueuedRow[] = [];
    for (const { last_worker: worker, ...row } of rows) {
      const sql = `select ${RESULT} from agent_result where run_id = $1`;
      const result = (await this.connection.get<QueuedResult>(sql, row.run_id)) ?? null;
      found.push({ ...row, worker, result });
    }
    return found;
  }

  async landing(landId: string): Promise<LandRow | null> {
    return (await this.#landings("land_id", landId))[0] ?? null;
  }

  async tally(): Promise<{ state: string; n: number }[]> {
    const sql = `select coalesce(s.state, 'open') as state, count(*)::int as n
      from agent_request r left join agent_result s on s.run_id = r.run_id group by 1 order by 1`;
    return this.connection.all<{ state: string; n: number }>(sql);
  }

  async refs(): Promise<string[]> {
    const sql = `select ref from effect_intent union select ref from agent_result where ref is not null
      union select ref from job_dispatch where ref is not null`;
    return (await this.connection.all<{ ref: string }>(sql)).map(({ ref }) => ref);
  }

  landingsOf(subject: string): Promise<LandRow[]> {
    return this.#landings("subject", subject);
  }

  async #landings(column: "land_id" | "subject", value: string): Promise<LandRow[]> {
    const rows = await this.connection.all<NewLanding>(
      `select ${LANDING.replace("repository_id", "repository_id::text as repository_id")} from land_request
       where ${column} = $1 order by asked_ms, land_id`,
      value,
    );
    const found: LandRow[] = [];
    for (const row of rows) {
      const intents = await this.connection.all<{ commit_id: string }>(
        "select commit_id from land_intent where land_id = $1 order by commit_id",
        row.land_id,
      );
      const result = await this.connection.get<NonNullable<LandRow["result"]>>(
        "select commit_id, code, message, worker from land_result where land_id = $1",
        row.land_id,
      );
      found.push({ ...row, intents: intents.map(({ commit_id }) => commit_id), result: result ?? null });
    }
    return found;
  }
}

class PostgresQueuedWriter extends PostgresQueuedReader<PostgresWriteConnection> implements QueuedWriter {
  async addRun(run: NewQueuedRun): Promise<void> {
    await this.connection.run(
      `insert into agent_request (${RUN}, asked_ms) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, ${NOW_MS})`,
      run.run_id,
      run.request,
      run.request_sha256,
      run.goal,
      run.repository_id,
      run.base_commit,
      run.needs,
      run.tries,
      run.asked_by,
    );
  }

  async addStart(runId: string, worker: string): Promise<number> {
    const row = await this.connection.get<{ n: number }>(
      `insert into agent_start (run_id, n, worker)
       select $1, coalesce(max(n), 0) + 1, $2 from agent_start where run_id = $1 returning n`,
      runId,
      worker,
    );
    return row!.n;
  }

  async addResult(result: QueuedResult): Promise<void> {
    await this.connection.run(
      `insert into agent_result (${RESULT}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
      result.run_id,
      result.state,
      result.reason,
      result.worker,
      result.files,
      result.added,
      result.deleted,
      result.candidate,
      result.commit_id,
      result.tree,
      result.ref,
      result.package,
      result.duration_ms,
    );
  }

  async addLanding(landing: NewLanding): Promise<void> {
    await this.connection.run(
      `insert into land_request (${LANDING}, asked_ms) values ($1, $2, $3, $4, $5, $6, $7, $8, ${NOW_MS})`,
      landing.land_id,
      landing.kind,
      landing.subject,
      landing.repository_id,
      landing.ref,
      landing.source,
      landing.onto,
      landing.asked_by,
    );
  }

  async addLandIntent(landId: string, commit: string): Promise<void> {
    await this.connection.run("insert into land_intent (land_id, commit_id) values ($1, $2)", landId, commit);
  }

  async addLandResult(landId: string, result: NonNullable<LandRow["result"]>): Promise<void> {
    await this.connection.run(
      "insert into land_result (land_id, commit_id, code, message, worker) values ($1, $2, $3, $4, $5)",
      landId,
      result.commit_id,
      result.code,
      result.message,
      result.worker,
    );
  }
}

/** The tables of queued runs and merges, on the connection of a transaction. */
export const queuedTables = {
  read: (connection: PostgresReadConnection): QueuedReader => new PostgresQueuedReader(connection),
  write: (connection: PostgresWriteConnection): QueuedWriter => new PostgresQueuedWriter(connection),
};
