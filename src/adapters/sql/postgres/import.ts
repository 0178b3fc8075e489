import pg from "pg";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { ContentStore, SyncCrypto } from "../../../core/ports.ts";
import { type Address, parseAddress } from "./address.ts";
import { readRoot } from "./backup.ts";
import { sqlState, toStoreError } from "./errors.ts";
import { requireDatabase } from "./migrate.ts";
import { POSTGRES_MIGRATIONS } from "./migrations/index.ts";
import { connectionConfig } from "./pool.ts";
import { add } from "./workspaces.ts";

const BUSY_MS = 10_000;

/** A store in a file: its tables, what its ledger is, and its payloads. */
export interface ImportedStore {
  readonly ledger_id: string;
  readonly tree_size: number;
  readonly root_hash: string;
  readonly content: ContentStore;
  tables(): readonly string[];
  columns(table: string): readonly string[];
  rows(table: string, columns: readonly string[]): Iterable<readonly (readonly unknown[])[]>;
}

/** What a database has for itself, and what is made again where it is. */
const NOT_COPIED: ReadonlySet<string> = new Set(["migration", "store_fact", "jobs_open", "ledger_entry", "content"]);

interface Column {
  readonly name: string;
  readonly type: string;
  readonly identity: boolean;
}

/**
 * Copies a store in a file into a new workspace, row by row and in one transaction: the same entries with the same hashes under
 * the same id. It is kept only when the tree over the entries has the same root. Needs the login that owns the tables,
 * because rows of a finished job are written as they are and not as its steps went.
 */
export async function importStore(options: {
  readonly url: string;
  readonly name: string;
  readonly crypto: SyncCrypto;
  readonly source: ImportedStore;
}): Promise<{ readonly where: string; readonly rows: number; readonly payloads: number }> {
  const { url, name, crypto, source } = options;
  const address = parseAddress(url, BUSY_MS);
  const { role } = await requireDatabase(address, POSTGRES_MIGRATIONS);
  const client = new pg.Client(connectionConfig(address));
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query(address.begin("read committed read write"));
    const { rows: taken } = await client.query("select 1 from workspace where name = $1 or id = $2", [
      name,
      source.ledger_id,
    ]);
    if (taken.length > 0) throw new VerbatimError("WORKSPACE_EXISTS", { details: { name, id: source.ledger_id } });
    await add(client, { name, logins: [], ids: { uuid: () => source.ledger_id } }, role.name);
    await client.query("set local role none");
    const rows = await copyTables(client, source, address);
    const payloads = await copyPayloads(client, source.content);
    const found = await readRoot(client, crypto, source.ledger_id);
    if (found.tree_size !== source.tree_size || found.root_hash !== source.root_hash) {
      const { tree_size, root_hash } = source;
      throw new VerbatimError("STORE_CORRUPT", {
        message: "the ledger that was copied is not the one of the file; nothing was kept",
        where: address.where,
        details: { expected: { tree_size, root_hash }, found },
      });
    }
    await client.query("commit");
    return { where: address.where, rows, payloads };
  } catch (thrown) {
    throw sqlState(thrown) === "42501" ? notOwner(thrown, address) : toStoreError(thrown, address.where);
  } finally {
    await client.end();
  }
}

async function copyTables(client: pg.Client, source: ImportedStore, { schema }: Address): Promise<number> {
  const there = new Set(source.tables());
  const tables = (await orderTables(client, schema)).filter((table) => there.has(table) && !NOT_COPIED.has(table));
  let count = await copyLedger(client, source);
  for (const table of tables) await client.query(`alter table ${table} disable trigger user`);
  for (const table of tables) {
    const columns = (await readColumns(client, schema, table)).filter(({ name }) =>
      source.columns(table).includes(name),
    );
    const names = columns.map(({ name }) => name);
    for (const rows of source.rows(table, names)) count += await insert(client, table, columns, rows);
    for (const { name } of columns.filter(({ identity }) => identity)) await skipNumbers(client, table, name);
  }
  // What is checked at the end of a transaction is checked now: a table with checks to come cannot be altered.
  await client.query("set constraints all immediate");
  for (const table of tables) await client.query(`alter table ${table} enable trigger user`);
  return count;
}

const ENTRY = ["stream", "position", "previous", "kind", "time", "actor", "body", "body_hash", "hash"];

/** Entries in their order, past no guard: each is the next of its stream and of the ledger. */
async function copyLedger(client: pg.Client, source: ImportedStore): Promise<number> {
  const columns = ENTRY.map((name) => ({ name, type: name === "position" ? "bigint" : "text", identity: false }));
  let idx = 0;
  for (const rows of source.rows("ledger_entry", ENTRY)) {
    await insert(client, "ledger_entry", columns, rows);
    await client.query(
      "insert into ledger_order (idx, hash) select $1::bigint + n - 1, hash from unnest($2::text[]) with ordinality as given (hash, n) order by n",
      [idx, rows.map((row) => row.at(-1))],
    );
    idx += rows.length;
  }
  return idx;
}

async function insert(
  client: pg.Client,
  table: string,
  columns: readonly Column[],
  rows: readonly (readonly unknown[])[],
): Promise<number> {
  const names = columns.map(({ name }) => `"${name}"`).join(", ");
  const lists = columns.map(({ type }, c) => `$${c + 1}::${type}[]`).join(", ");
  const isNumbered = columns.some(({ identity }) => identity);
  const sql = `insert into ${table} (${names}) ${isNumbered ? "overriding system value " : ""}select * from unnest(${lists})`;
  const values = columns.map((_, c) => rows.map((row) => toValue(row[c])));
  return (await client.query(sql, values)).rowCount ?? 0;
}

/** SQLite gives bytes as plain arrays, which the driver would not send as bytes. */
function toValue(value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value;
}

/** Numbers that the database gives from now on come after those that were copied. */
async function skipNumbers(client: pg.Client, table: string, column: string): Promise<void> {
  const sequence = "pg_get_serial_sequence($1, $2)::regclass";
  await client.query(
    `select setval(${sequence}, greatest(nextval(${sequence}), (select coalesce(max("${column}"), 0) + 1 from ${table})))`,
    [table, column],
  );
}

/** Tables of the schema, those that others refer to first. */
async function orderTables(client: pg.Client, schema: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string; after: string[] | null }>(
    `select c.relname as name, array_agg(f.relname::text) filter (where f.relname is not null and f.oid <> c.oid) as after
     from pg_class c join pg_namespace n on n.oid = c.relnamespace and n.nspname = $1
     left join pg_constraint k on k.conrelid = c.oid and k.contype = 'f' left join pg_class f on f.oid = k.confrelid
     where c.relkind = 'r' group by c.relname order by c.relname`,
    [schema],
  );
  const ordered: string[] = [];
  const waiting = new Map(rows.map(({ name, after }) => [name, after ?? []]));
  while (waiting.size > 0) {
    const ready = [...waiting].filter(([, after]) => after.every((one) => !waiting.has(one))).map(([name]) => name);
    if (ready.length === 0) throw new VerbatimError("INTERNAL", { message: "tables refer to each other in a circle" });
    for (const name of ready) waiting.delete(name);
    ordered.push(...ready);
  }
  return ordered;
}

async function readColumns(client: pg.Client, schema: string, table: string): Promise<Column[]> {
  const { rows } = await client.query<Column>(
    `select column_name as name, data_type as type, is_identity = 'YES' as identity from information_schema.columns
     where table_schema = $1 and table_name = $2 and column_name <> 'workspace_id' order by ordinal_position`,
    [schema, table],
  );
  return rows;
}

async function copyPayloads(client: pg.Client, content: ContentStore): Promise<number> {
  let count = 0;
  for await (const hash of content.list()) {
    const bytes = Buffer.from(await content.get(hash));
    const sql = `insert into content (hash, bytes, stored_ms)
      values ($1, $2, floor(extract(epoch from clock_timestamp()) * 1000)::bigint)`;
    await client.query(sql, [hash, bytes]);
    count++;
  }
  return count;
}

function notOwner(thrown: unknown, { where }: Address): VerbatimError {
  return new VerbatimError("STORE_REFUSED", {
    message: "this login may not bring a store into the database",
    where,
    fix: "Use the login that migrates the database.",
    cause: thrown,
  });
}
