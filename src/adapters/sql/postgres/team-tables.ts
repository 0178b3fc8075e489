import type {
  DispatchRow,
  EffectIntent,
  JobStanding,
  NewDispatch,
  QueuedReader,
  QueuedWriter,
  QueueRow,
  RepositoryRow,
  TeamReader,
  TeamWriter,
  TokenRow,
  WorkerBeat,
  WorkerRow,
  WorkItem,
} from "../../../rooms/jobs/ports.ts";
import type { PostgresReadConnection, PostgresWriteConnection } from "./connection.ts";
import { queuedTables } from "./queued-tables.ts";

/** The queue's own statements, on the connection of the caller's transaction. */
export interface BoundEngine {
  idOf(jobId: string, generation: number): string;
  /** Of rows with one key only one is taken at a time, where the queue is of that kind. */
  send(queue: string, id: string, jobId: string, key: string | null): Promise<void>;
  touch(item: WorkItem): Promise<boolean>;
  finish(item: WorkItem): Promise<boolean>;
  release(item: WorkItem, code: string, when: "now" | "later"): Promise<boolean>;
  cancel(queue: string, id: string): Promise<void>;
  /** Which of these are still on their way. */
  live(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** Jobs that used up their retries. */
  stalled(): Promise<ReadonlySet<string>>;
  /** A job is no dead letter any more. */
  revive(jobId: string): Promise<void>;
}

/** What the queue says of one job and of all, on the connection of a reader. */
export interface LookAtQueue {
  look(connection: PostgresReadConnection, row: DispatchRow): Promise<JobStanding>;
  count(connection: PostgresReadConnection): Promise<QueueRow[]>;
}

/** Binds the queue to a transaction. */
export type BindEngine = (connection: PostgresWriteConnection) => BoundEngine;

const DISPATCH = "job_id, queue, generation, engine_id, repository_id, base_commit, base_tree, ref, cancelled";
const INTENT = "step_id, job_id, ordinal, attempt, ref, parent, commit_id, tree, receipt, receipt_hash";

const NOW_MS = "floor(extract(epoch from clock_timestamp()) * 1000)::bigint";
const DAY_MS = 24 * 3_600_000;
const FORGOTTEN_MS = 7 * DAY_MS;

interface StoredWorker extends Omit<WorkerRow, "labels" | "repositories"> {
  readonly labels: string;
  readonly repositories: string;
}

function toList(text: string): string[] {
  return text === "" ? [] : text.split(" ");
}

interface StoredRepository extends Omit<RepositoryRow, "roots"> {
  readonly roots: string;
}

class PostgresTeamReader<C extends PostgresReadConnection> implements TeamReader {
  protected readonly connection: C;

  readonly #look: LookAtQueue;

  constructor(connection: C, look: LookAtQueue) {
    this.connection = connection;
    this.#look = look;
  }

  get queued(): QueuedReader {
    return queuedTables.read(this.connection);
  }

  async incarnation(): Promise<string> {
    const sql = "select id::text as id from incarnation order by number desc limit 1";
    return (await this.connection.get<{ id: string }>(sql))!.id;
  }

  async repositories(): Promise<RepositoryRow[]> {
    const sql = "select id::text as id, name, remote, default_branch, roots from repository order by name";
    const rows = await this.connection.all<StoredRepository>(sql);
    return rows.map((row) => ({ ...row, roots: row.roots.split(" ") }));
  }

  async dispatch(jobId: string): Promise<DispatchRow | null> {
    const sql = `select ${DISPATCH} from job_dispatch where job_id = $1`;
    return (await this.connection.get<DispatchRow>(sql, jobId)) ?? null;
  }

  async intents(jobId: string): Promise<EffectIntent[]> {
    const sql = `select ${INTENT} from effect_intent where job_id = $1 order by ordinal, attempt, commit_id`;
    return this.connection.all<EffectIntent>(sql, jobId);
  }

  standing(row: DispatchRow): Promise<JobStanding> {
    return this.#look.look(this.connection, row);
  }

  queues(): Promise<QueueRow[]> {
    return this.#look.count(this.connection);
  }

  async tokens(): Promise<TokenRow[]> {
    const state = `case when revoked_ms is not null then 'revoked' when expires_ms <= ${NOW_MS} then 'expired' else 'good' end`;
    const sql = `select token_sha256, name, role, created_by, expires_ms, ${state} as state from access_token order by name`;
    return this.connection.all<TokenRow>(sql);
  }

  async workers(): Promise<WorkerRow[]> {
    const sql = `select name, labels, repositories, slots, busy, version, state, reason, ${NOW_MS} - seen_ms as silent_ms
      from worker order by name`;
    const rows = await this.connection.all<StoredWorker>(sql);
    return rows.map((row) => ({ ...row, labels: toList(row.labels), repositories: toList(row.repositories) }));
  }
}

class PostgresTeamWriter extends PostgresTeamReader<PostgresWriteConnection> implements TeamWriter {
  readonly #engine: BoundEngine;

  constructor(connection: PostgresWriteConnection, bind: BindEngine, look: LookAtQueue) {
    super(connection, look);
    this.#engine = bind(connection);
  }

  override get queued(): QueuedWriter {
    return queuedTables.write(this.connection);
  }

  async addRepository({ id, name, remote, default_branch, roots }: RepositoryRow): Promise<void> {
    await this.connection.run(
      `insert into repository (id, name, remote, default_branch, roots, time)
       values ($1, $2, $3, $4, $5, to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`,
      id,
      name,
      remote,
      default_branch,
      roots.join(" "),
    );
  }

  async addIntent(intent: EffectIntent): Promise<void> {
    await this.connection.run(
      `insert into effect_intent (${INTENT}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
      intent.step_id,
      intent.job_id,
      intent.ordinal,
      intent.attempt,
      intent.ref,
      intent.parent,
      intent.commit_id,
      intent.tree,
      intent.receipt,
      intent.receipt_hash,
    );
  }

  async setRef(jobId: string, ref: string): Promise<void> {
    await this.connection.run("update job_dispatch set ref = $2 where job_id = $1 and ref is null", jobId, ref);
  }

  async send({ job_id, queue, repository_id, base_commit, base_tree }: NewDispatch): Promise<void> {
    const id = this.#engine.idOf(job_id, 1);
    await this.connection.run(
      `insert into job_dispatch (job_id, queue, generation, engine_id, repository_id, base_commit, base_tree)
       values ($1, $2, 1, $3, $4, $5, $6)`,
      job_id,
      queue,
      id,
      repository_id,
      base_commit,
      base_tree,
    );
    await this.#engine.send(queue, id, job_id, await this.#keyOf(queue, job_id));
  }

  /** What only one may be at work on: the branch that is moved. */
  async #keyOf(queue: string, id: string): Promise<string | null> {
    if (!queue.startsWith("land/")) return null;
    const sql = "select onto from land_request where land_id = $1";
    return (await this.connection.get<{ onto: string }>(sql, id))?.onto ?? null;
  }

  async resend(job: DispatchRow): Promise<void> {
    const generation = job.generation + 1;
    const id = this.#engine.idOf(job.job_id, generation);
    await this.#engine.cancel(job.queue, job.engine_id);
    const sql = "update job_dispatch set generation = $2, engine_id = $3 where job_id = $1 and generation = $4";
    await this.connection.run(sql, job.job_id, generation, id, job.generation);
    await this.#engine.revive(job.job_id);
    await this.#engine.send(job.queue, id, job.job_id, await this.#keyOf(job.queue, job.job_id));
  }

  async cancel(job: DispatchRow): Promise<void> {
    await this.connection.run("update job_dispatch set cancelled = true where job_id = $1", job.job_id);
    await this.resend(job);
  }

  async lostJobs(): Promise<DispatchRow[]> {
    const columns = DISPATCH.replaceAll(/\w+/g, "d.$&");
    const sql = `select ${columns} from job_dispatch d join jobs_open o on o.job_id = d.job_id order by o.number limit 1000`;
    const others = `select ${columns} from job_dispatch d
      join (select run_id as id, asked_ms from agent_request where run_id not in (select run_id from agent_result)
        union all select land_id, asked_ms from land_request where land_id not in (select land_id from land_result)) o
      on o.id = d.job_id order by o.asked_ms limit 1000`;
    const open = [
      ...(await this.connection.all<DispatchRow>(sql)),
      ...(await this.connection.all<DispatchRow>(others)),
    ];
    const live = await this.#engine.live(open.map(({ engine_id }) => engine_id));
    const stalled = await this.#engine.stalled();
    return open.filter(({ engine_id, job_id }) => !live.has(engine_id) && !stalled.has(job_id));
  }

  async beat(worker: WorkerBeat): Promise<{ readonly drain: boolean }> {
    const { name, labels, repositories, slots, busy, version, state, reason } = worker;
    await this.connection.run(`delete from worker where seen_ms < ${NOW_MS} - ${FORGOTTEN_MS}`);
    const row = await this.connection.get<{ drain: boolean }>(
      `insert into worker (name, labels, repositories, slots, busy, version, state, reason, seen_ms)
       values ($1, $2, $3, $4, $5, $6, $7, $8, ${NOW_MS})
       on conflict (name) do update set labels = excluded.labels, repositories = excluded.repositories,
         slots = excluded.slots, busy = excluded.busy, version = excluded.version, state = excluded.state,
         reason = excluded.reason, seen_ms = excluded.seen_ms
       returning drain`,
      name,
      labels.join(" "),
      repositories.join(" "),
      slots,
      busy,
      version,
      state,
      reason,
    );
    return { drain: row!.drain };
  }

  async addToken(
    { token_sha256, name, role, created_by }: Pick<TokenRow, "token_sha256" | "name" | "role" | "created_by">,
    days: number,
  ): Promise<number | null> {
    const over = `delete from access_token where name = $1 and (revoked_ms is not null or expires_ms <= ${NOW_MS})`;
    await this.connection.run(over, name);
    const row = await this.connection.get<{ expires_ms: number }>(
      `insert into access_token (token_sha256, name, role, created_by, created_ms, expires_ms)
       values ($1, $2, $3, $4, ${NOW_MS}, ${NOW_MS} + $5::bigint * ${DAY_MS}) on conflict (name) do nothing returning expires_ms`,
      token_sha256,
      name,
      role,
      created_by,
      days,
    );
    return row?.expires_ms ?? null;
  }

  async revokeToken(name: string): Promise<boolean> {
    const sql = `update access_token set revoked_ms = ${NOW_MS} where name = $1 and revoked_ms is null and expires_ms > ${NOW_MS}`;
    return (await this.connection.run(sql, name)) === 1;
  }

  async drain(name: string): Promise<boolean> {
    return (await this.connection.run("update worker set drain = true where name = $1", name)) === 1;
  }

  async forgetWorker(name: string): Promise<void> {
    await this.connection.run("delete from worker where name = $1", name);
  }

  touch(item: WorkItem): Promise<boolean> {
    return this.#engine.touch(item);
  }

  finish(item: WorkItem): Promise<boolean> {
    return this.#engine.finish(item);
  }

  release(item: WorkItem, code: string, when: "now" | "later"): Promise<boolean> {
    return this.#engine.release(item, code, when);
  }
}

/** A team's tables, with the queue in the same database. */
export function postgresTeam(bind: BindEngine, look: LookAtQueue) {
  return {
    read: (connection: PostgresReadConnection): TeamReader => new PostgresTeamReader(connection, look),
    write: (connection: PostgresWriteConnection): TeamWriter => new PostgresTeamWriter(connection, bind, look),
  };
}
