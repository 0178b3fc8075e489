import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { BuildLock } from "../../../rooms/context/ports.ts";
import type { ConnectionPool } from "./pool.ts";

interface Options {
  /** How long to wait for another build. */
  readonly patienceMs?: number;
  /** How long a holder that says nothing more keeps others out. */
  readonly leaseMs?: number;
}

const PATIENCE_MS = 10_000;
const LEASE_MS = 10_000;
const STEP_MS = 50;

const NOW = "floor(extract(epoch from clock_timestamp()) * 1000)::bigint";

const TAKE = `
insert into index_lease (id, holder, expires_ms) values (1, $1, ${NOW} + $2)
on conflict (workspace_id, id) do update set holder = excluded.holder, expires_ms = excluded.expires_ms
  where index_lease.expires_ms <= ${NOW}`;

/**
 * One index build at a time in a workspace. The lock is a row that runs out by itself, so that it needs no session: whoever
 * vanished keeps nobody out for longer than a lease. A build that lost it is stopped by the revision when it publishes.
 */
export function createPostgresBuildLock(pool: Pick<ConnectionPool, "query">, options: Options = {}): BuildLock {
  const { patienceMs = PATIENCE_MS, leaseMs = LEASE_MS } = options;
  return {
    async hold(fn) {
      const holder = JSON.stringify({ host: hostname(), pid: process.pid, id: randomUUID() });
      await take(pool, holder, patienceMs, leaseMs);
      const renewal = setInterval(
        () => {
          const sql = `update index_lease set expires_ms = ${NOW} + $2 where holder = $1`;
          // The next beat may work; a lease that ran out meanwhile is found when the build publishes.
          pool.query(sql, [holder, leaseMs]).catch(() => undefined);
        },
        Math.max(1, Math.floor(leaseMs / 3)),
      );
      try {
        return await fn();
      } finally {
        clearInterval(renewal);
        // What cannot be given back runs out by itself; how the build ended matters more.
        await pool.query("delete from index_lease where holder = $1", [holder]).catch(() => undefined);
      }
    },
  };
}

async function take(
  pool: Pick<ConnectionPool, "query">,
  holder: string,
  patienceMs: number,
  leaseMs: number,
): Promise<void> {
  const end = performance.now() + patienceMs;
  for (;;) {
    if ((await pool.query(TAKE, [holder, leaseMs])).rowCount === 1) return;
    if (performance.now() > end) throw await busy(pool);
    await wait(STEP_MS);
  }
}

async function busy(pool: Pick<ConnectionPool, "query">): Promise<VerbatimError> {
  const { rows } = await pool.query<{ holder: string }>("select holder from index_lease where id = 1", []);
  const found = rows[0] === undefined ? null : (JSON.parse(rows[0].holder) as { host?: string; pid?: number });
  const { host = null, pid = null } = found ?? {};
  const who = pid === null ? "" : ` (process ${pid} on ${host})`;
  return new VerbatimError("INDEX_BUSY", { message: `another index build is running${who}`, details: { host, pid } });
}
