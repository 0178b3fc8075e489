import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { PgBoss } from "pg-boss";
import { VerbatimError } from "../../core/errors/index.ts";
import type { Dispatch, DispatchRow, JobStanding, QueueRow, WorkItem } from "../../rooms/jobs/ports.ts";
import type { PostgresReadConnection, PostgresWriteConnection } from "../sql/postgres/connection.ts";
import type { BoundEngine } from "../sql/postgres/team-tables.ts";
import { loadEngine } from "./load.ts";

interface EngineOptions {
  readonly connectionString: string;
  /** Schema of the queue's own tables. */
  readonly schema: string;
  /** Id of the workspace whose jobs these are. */
  readonly workspace: string;
  /** Connections at most. */
  readonly most: number;
}

/** What a row of the queue carries: ids, never content. */
interface RowData {
  readonly workspace?: unknown;
  readonly job?: unknown;
}

/** The engine's states of a row, in our words; a row that failed for good has a dead letter beside it. */
const STANDINGS: Readonly<Record<string, JobStanding["at"]>> = {
  created: "waiting",
  retry: "waiting",
  active: "taken",
  completed: "over",
  cancelled: "over",
};

const YEAR_S = 365 * 24 * 3600;
const WEEK_S = 7 * 24 * 3600;
const HEARTBEAT_S = 10;
const SUPERVISE_S = 2;
const FIRST_POLL_MS = 100;
const LONGEST_POLL_MS = 2000;

/**
 * The queue in the same database. It is never the truth: an attempt's number is checked inside the transaction that writes
 * the records, and whatever the queue loses is sent again from them. Nothing of a session is used, so a pooler may be between.
 */
export class Engine implements Dispatch {
  readonly #options: EngineOptions;
  readonly #queues = new Set<string>();
  #boss: Promise<PgBoss> | null = null;

  constructor(options: EngineOptions) {
    this.#options = options;
  }

  /** Starts the queue when it is first needed. */
  async start(): Promise<PgBoss> {
    this.#boss ??= this.#begin().catch((thrown: unknown) => {
      // A database that was away is asked again by whoever comes next.
      this.#boss = null;
      throw thrown;
    });
    return this.#boss;
  }

  async #begin(): Promise<PgBoss> {
    const { PgBoss } = await loadEngine();
    const boss = new PgBoss({
      connectionString: this.#options.connectionString,
      schema: this.#options.schema,
      migrate: false,
      createSchema: false,
      reindex: false,
      useListenNotify: false,
      schedule: false,
      max: this.#options.most,
      superviseIntervalSeconds: SUPERVISE_S,
      monitorIntervalSeconds: SUPERVISE_S,
    });
    // A lost connection is met by the next statement, and that is where it is reported.
    boss.on("error", () => undefined);
    try {
      return await boss.start();
    } catch (thrown) {
      throw new VerbatimError("STORE_UNAVAILABLE", {
        message: `the queue cannot be used: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
        fix: "Run verbatim store migrate, which makes the queue's tables.",
        cause: thrown,
      });
    }
  }

  async prepare(queue: string): Promise<void> {
    if (this.#queues.has(queue)) return;
    const boss = await this.start();
    const dead = this.#dead;
    if (!this.#queues.has(dead)) {
      await boss.createQueue(dead, { retentionSeconds: YEAR_S, retryLimit: 0 });
      this.#queues.add(dead);
    }
    await boss.createQueue(queue, {
      // One merge at a time for each branch; everything else may run beside each other.
      ...(queue.startsWith("land/") ? { policy: "singleton" as const } : {}),
      retryLimit: 20,
      retryDelay: 1,
      retryBackoff: true,
      retryDelayMax: 60,
      heartbeatSeconds: HEARTBEAT_S,
      expireInSeconds: queue.startsWith("read/") ? 900 : 24 * 3600 - 1,
      retentionSeconds: YEAR_S,
      deleteAfterSeconds: WEEK_S,
      deadLetter: dead,
    });
    this.#queues.add(queue);
  }

  async next(queues: readonly string[], signal: AbortSignal): Promise<WorkItem | null> {
    for (const queue of queues) await this.prepare(queue);
    const boss = await this.start();
    // Whoever asks gets one look at every queue, however short the time was.
    for (let pause = FIRST_POLL_MS; ; pause = Math.min(2 * pause, LONGEST_POLL_MS)) {
      for (const queue of queues) {
        const [row] = await ask(() => boss.fetch<RowData>(queue));
        if (row === undefined) continue;
        const { workspace, job } = row.data;
        if (workspace === this.#options.workspace && typeof job === "string") {
          return { queue, id: row.id, attempt: row.retryCount, job_id: job };
        }
        // Somebody put it there past the records; it is nobody's job.
        await ask(() => boss.cancel(queue, row.id));
      }
      if (signal.aborted) return null;
      await wait(pause, undefined, { signal }).catch(() => undefined);
    }
  }

  /** The queue's statements on the connection of a transaction. */
  bind(connection: PostgresWriteConnection): BoundEngine {
    const boss = () => this.start();
    const db = { executeSql: (text: string, values?: unknown[]) => connection.execute(text, values ?? []) };
    const { schema, workspace } = this.#options;
    const fenced = ({ id, attempt }: WorkItem) => ({ id, retryCount: attempt });
    return {
      idOf: (jobId, generation) => toId(`dispatch:${workspace}:${jobId}:${generation}`),
      async send(queue, id, job, key) {
        const one = key === null ? {} : { singletonKey: key };
        await (await boss()).send(queue, { workspace, job }, { id, db, ...one });
      },
      touch: async (item) => took(await (await boss()).touch(item.queue, fenced(item), { db })),
      finish: async (item) => took(await (await boss()).complete(item.queue, fenced(item), null, { db })),
      async release(item, code, when) {
        const failed = await (await boss()).fail(item.queue, fenced(item), { code }, { db });
        if (when === "now") {
          const sql = `update ${schema}.job set start_after = now() where name = $1 and id = $2 and state = 'retry'`;
          await connection.execute(sql, [item.queue, item.id]);
        }
        return took(failed);
      },
      async cancel(queue, id) {
        await (await boss()).cancel(queue, id, { db });
      },
      async live(ids) {
        const sql = `select id::text as id from ${schema}.job where id = any ($1::uuid[]) and state < 'completed'`;
        const { rows } = await connection.execute(sql, [[...ids]]);
        return new Set(rows.map((row) => String(row["id"])));
      },
      stalled: async () => {
        const sql = `select data->>'job' as job from ${schema}.job where name = $1 and state < 'completed'`;
        const { rows } = await connection.execute(sql, [this.#dead]);
        return new Set(rows.map((row) => String(row["job"])));
      },
      revive: async (jobId) => {
        await connection.execute(`delete from ${schema}.job where name = $1 and data->>'job' = $2`, [
          this.#dead,
          jobId,
        ]);
      },
    };
  }

  /** Where a job stands with the queue, read beside its records. */
  async look(connection: PostgresReadConnection, { job_id, engine_id }: DispatchRow): Promise<JobStanding> {
    const { schema } = this.#options;
    const row = await connection.get<{ state: string; attempt: number; code: string | null }>(
      `select state::text as state, retry_count as attempt, output->>'code' as code from ${schema}.job where id = $1::uuid`,
      engine_id,
    );
    const dead = await connection.get<{ attempt: number; code: string | null }>(
      `select source_retry_count as attempt, source_output->>'code' as code from ${schema}.job
       where name = $1 and data->>'job' = $2 and state < 'completed'`,
      this.#dead,
      job_id,
    );
    if (dead !== undefined) return { at: "stalled", ...dead };
    if (row === undefined) return { at: "lost", attempt: 0, code: null };
    const { attempt, code } = row;
    return { at: STANDINGS[row.state] ?? "lost", attempt, code };
  }

  /** How much waits in each queue; what is to be tried again later does not wait yet. */
  async count(connection: PostgresReadConnection): Promise<QueueRow[]> {
    const isReady = "state in ('created', 'retry') and start_after <= now()";
    return connection.all<QueueRow>(
      `select name as queue, (count(*) filter (where ${isReady}))::int as ready,
         (count(*) filter (where state = 'active'))::int as active,
         coalesce(extract(epoch from now() - min(greatest(created_on, start_after)) filter (where ${isReady})), 0)::float8 as oldest_s
       from ${this.#options.schema}.job where data->>'workspace' = $1 and state < 'completed'
       group by name order by name collate "C"`,
      this.#options.workspace,
    );
  }

  get #dead(): string {
    return `dead/${this.#options.workspace}`;
  }

  async close(): Promise<void> {
    const boss = await this.#boss?.catch(() => null);
    await boss?.stop({ graceful: false });
  }
}

/** Whether a statement met the row of this attempt; the types of the package do not say that it counts. */
function took(answer: object): boolean {
  return "affected" in answer && answer.affected === 1;
}

async function ask<T>(fn: () => Promise<T>): Promise<T> {
  try {
    return await fn();
  } catch (thrown) {
    throw new VerbatimError("STORE_UNAVAILABLE", {
      message: `the queue does not answer: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
      cause: thrown,
    });
  }
}

/** A UUIDv8 of a text: sending the same twice makes one row. */
function toId(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex");
  const variant = ((Number.parseInt(hex[16]!, 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
