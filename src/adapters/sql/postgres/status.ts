import type pg from "pg";
import type { Address, WorksAs } from "./address.ts";
import { sqlState, toStoreError } from "./errors.ts";
import { ConnectionPool } from "./pool.ts";

/** How much a store holds, and whether those who work with it could change what was recorded. */
export interface DatabaseUse {
  /** Of the workspace that is looked at; null where none is. */
  readonly entries: number | null;
  /** Bytes on disk with their indexes, by what they hold. */
  readonly bytes: { readonly ledger: number; readonly payloads: number; readonly index: number; readonly rest: number };
  /** Tried: an update of the ledger, in a transaction that is taken back. */
  readonly mayChangeLedger: boolean;
}

const SIZES = `
select case
    when c.relname like 'ledger\\_%' then 'ledger'
    when c.relname = 'content' then 'payloads'
    when c.relname like 'context\\_%' then 'index'
    else 'rest' end as part,
  sum(pg_total_relation_size(c.oid))::bigint as bytes
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname = $1 and c.relkind = 'r' group by 1`;

/** Measures a store that is there. Costs one look into the catalogue and no walk over rows. */
export async function measureDatabase(address: Address, as: WorksAs): Promise<DatabaseUse> {
  const pool = new ConnectionPool(address, as, 1);
  try {
    const { rows } = await pool.query<{ part: string; bytes: number }>(SIZES, [address.schema]);
    const entries = as.workspace === null ? null : await countEntries(pool);
    const bytes = {
      ledger: 0,
      payloads: 0,
      index: 0,
      rest: 0,
      ...Object.fromEntries(rows.map((r) => [r.part, r.bytes])),
    };
    return {
      entries,
      bytes,
      mayChangeLedger: await pool.use((client) => tryChange(client, address, as)),
    };
  } finally {
    await pool.end();
  }
}

// The server looks at rights before it looks for rows, so a change of no row says whether one would be allowed.
async function countEntries(pool: ConnectionPool): Promise<number> {
  const sql = "select coalesce(max(idx) + 1, 0) as size from ledger_order";
  return (await pool.query<{ size: number }>(sql, [])).rows[0]!.size;
}

async function tryChange(client: pg.PoolClient, address: Address, as: WorksAs): Promise<boolean> {
  await client.query(address.begin("read committed read write", as));
  try {
    await client.query("update ledger_entry set kind = kind where false");
    return true;
  } catch (thrown) {
    if (sqlState(thrown) === "42501") return false;
    throw toStoreError(thrown, address.where);
  } finally {
    await client.query("rollback");
  }
}
