import pg from "pg";
import { VerbatimError } from "../../core/errors/index.ts";
import type { Clock, Ids } from "../../core/ports.ts";
import { formatTime } from "../../core/time.ts";
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
    const version = await readVersion(client, address, migrations.length);
    let usable = version > 0 && (await canAssume(client, role));
    if (version < migrations.length || !usable) {
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
  const version = await readVersion(client, address, migrations.length);
  if (version === 0) await client.query(`create schema if not exists ${schema}`);
  for (const migration of migrations.slice(version)) {
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

async function readVersion(client: pg.ClientBase, { schema, where }: Address, newest: number): Promise<number> {
  const table = `${schema}.migration`;
  const { rows: found } = await client.query<{ there: boolean }>("select to_regclass($1) is not null as there", [
    table,
  ]);
  if (!found[0]!.there) return 0;
  const { rows } = await client.query<{ version: number }>(`select coalesce(max(version), 0) as version from ${table}`);
  const { version } = rows[0]!;
  if (version > newest) {
    throw new VerbatimError("STORE_FROM_FUTURE", {
      message: `the store has version ${version}; this Verbatim knows versions up to ${newest}`,
      where,
      details: { version, newest },
    });
  }
  return version;
}

function notUsable(role: string): WriterRole {
  return {
    name: null,
    why: `the role ${role} is missing and the user may not make or take it on; only triggers protect the ledger`,
  };
}

/** Opening fails for other reasons than working: rights that are missing, a schema that is not ours. */
function explain(thrown: unknown, address: Address): Error {
  const state = sqlState(thrown);
  if (state === "42501") {
    return new VerbatimError("STORE_UNAVAILABLE", {
      message: `the user may not make or use the schema ${address.schema}`,
      where: address.where,
      fix: `Let an administrator run: grant create on database ... to the user, or make the schema for it.`,
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
