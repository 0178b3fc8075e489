import pg from "pg";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { Clock, Ids } from "../../../core/ports.ts";
import { formatTime } from "../../../core/time.ts";
import { missingMigrations } from "../versions.ts";
import type { Address } from "./address.ts";
import { sqlState, toStoreError } from "./errors.ts";
import type { PostgresMigration } from "./migration.ts";
import { connectionConfig } from "./pool.ts";
import { canAssume, prepareRole, roleName, type WriterRole } from "./role.ts";

export interface Prepared {
  readonly role: WriterRole;
  readonly serverVersion: string;
}

/** Brings the database up to date and finds the role to work with. Uses one connection of its own. */
export async function prepareDatabase(
  address: Address,
  migrations: readonly PostgresMigration[],
  ports: { readonly clock: Clock; readonly ids: Ids },
): Promise<Prepared> {
  const client = new pg.Client(connectionConfig(address, null));
  // A connection that breaks also fails the query that waits for it; that is where it is reported.
  client.on("error", () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ database: string; version: string }>(
      "select current_database() as database, current_setting('server_version') as version",
    );
    const role = roleName(rows[0]!.database, address.schema);
    await client.query("begin");
    const missing = await findMissing(client, address, migrations);
    let usable = await canAssume(client, role);
    if (missing.length > 0 || !usable) {
      await applyMigrations(client, address, migrations, ports, role);
      usable = await canAssume(client, role);
    }
    await client.query("commit");
    return { role: usable ? { name: role, why: null } : notUsable(role), serverVersion: rows[0]!.version };
  } catch (thrown) {
    throw explain(thrown, address);
  } finally {
    await client.end();
  }
}

/** Applies what is missing. Other processes wait at the lock and then find it done. */
async function applyMigrations(
  client: pg.ClientBase,
  address: Address,
  migrations: readonly PostgresMigration[],
  ports: { readonly clock: Clock; readonly ids: Ids },
  role: string,
): Promise<void> {
  const { schema } = address;
  await client.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [`verbatim ${schema} migrate`]);
  const missing = await findMissing(client, address, migrations);
  if (missing.length === 0 && (await canAssume(client, role))) return;
  if (missing.length > 0) await client.query(`create schema if not exists ${schema}`);
  for (const migration of missing) {
    await client.query(migration.sql(schema));
    for (const { sql, values } of migration.seed?.(schema, ports) ?? []) await client.query(sql, [...values]);
    await client.query(`insert into ${schema}.migration (version, name, time) values ($1, $2, $3)`, [
      migration.version,
      migration.name,
      formatTime(ports.clock.now()),
    ]);
  }
  await prepareRole(client, schema, role);
}

/** The migrations a schema lacks. Refuses a store that a newer program has changed, before anything is changed. */
async function findMissing(
  client: pg.ClientBase,
  { schema, where }: Address,
  migrations: readonly PostgresMigration[],
): Promise<PostgresMigration[]> {
  // Not to_regclass: its cache may still say no after another process, for which this one waited, has said yes.
  const { rowCount } = await client.query(
    `select 1 from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and c.relname = 'migration'`,
    [schema],
  );
  if (rowCount === 0) return missingMigrations(migrations, [], where);
  const applied = await client.query<{ version: number }>(`select version from ${schema}.migration`);
  return missingMigrations(
    migrations,
    applied.rows.map((row) => row.version),
    where,
  );
}

function notUsable(role: string): WriterRole {
  return {
    name: null,
    why: `the role ${role} is missing and the user may not create or assume it; only triggers protect the ledger`,
  };
}

/** Opening fails for other reasons than working: rights that are missing, a schema that is not ours. */
function explain(thrown: unknown, address: Address): Error {
  const state = sqlState(thrown);
  if (state === "42501") {
    return new VerbatimError("STORE_UNAVAILABLE", {
      message: `the user may not create or use the schema ${address.schema}`,
      where: address.where,
      fix: `Ask an administrator to run: grant create on database ... to the user, or to create the schema.`,
      cause: thrown,
    });
  }
  if (state?.startsWith("42") === true) {
    return new VerbatimError("STORE_CORRUPT", {
      message: `the schema ${address.schema} is not a Verbatim store`,
      where: address.where,
      cause: thrown,
    });
  }
  return toStoreError(thrown, address.where);
}
