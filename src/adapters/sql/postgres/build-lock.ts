import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { BuildLock } from "../../../rooms/context/ports.ts";
import { parseAddress } from "./address.ts";
import { toStoreError } from "./errors.ts";
import { connectionConfig } from "./pool.ts";

const PATIENCE_MS = 10_000;
const STEP_MS = 50;
const NAME = "verbatim index build, process ";

/**
 * One index build at a time for everyone who uses the database. The lock belongs to a connection of its own: the server
 * frees it when the connection ends, so nothing stale is ever left. Its application name says whose it is.
 */
export function createPostgresBuildLock(url: string, patienceMs = PATIENCE_MS): BuildLock {
  const address = parseAddress(url, patienceMs);
  const key = `verbatim ${address.schema} index build`;
  return {
    async hold(fn) {
      const config = { ...connectionConfig(address), application_name: `${NAME}${process.pid}` };
      const client = new pg.Client(config);
      // A connection that breaks fails the query that uses it; a build that lost it is stopped by the revision.
      client.on("error", () => undefined);
      try {
        await client.connect();
        await take(client, key, patienceMs);
      } catch (thrown) {
        await client.end();
        throw toStoreError(thrown, address.where);
      }
      try {
        return await fn();
      } finally {
        await client.end();
      }
    },
  };
}

async function take(client: pg.Client, key: string, patienceMs: number): Promise<void> {
  const end = performance.now() + patienceMs;
  for (;;) {
    const { rows } = await client.query<{ taken: boolean }>(
      "select pg_try_advisory_lock(hashtextextended($1, 0)) as taken",
      [key],
    );
    if (rows[0]?.taken === true) return;
    if (performance.now() > end) throw await busy(client, key);
    await wait(STEP_MS);
  }
}

async function busy(client: pg.Client, key: string): Promise<VerbatimError> {
  // A lock on one bigint shows its halves as classid and objid.
  const { rows } = await client.query<{ name: string | null }>(
    `select a.application_name as name from pg_locks l join pg_stat_activity a on a.pid = l.pid
     where l.locktype = 'advisory' and l.granted and l.objsubid = 1
       and (l.classid::bigint << 32 | l.objid::bigint) = hashtextextended($1, 0)`,
    [key],
  );
  const name = rows[0]?.name ?? "";
  const pid = name.startsWith(NAME) ? Number(name.slice(NAME.length)) : null;
  const who = pid === null ? "" : ` (process ${pid})`;
  return new VerbatimError("INDEX_BUSY", { message: `another index build is running${who}`, details: { pid } });
}
