import pg from "pg";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import type { Clock, Ids } from "../../../core/ports.ts";
import { formatTime } from "../../../core/time.ts";
import { missingMigrations, newestVersion } from "../versions.ts";
import type { Address } from "./address.ts";
import { sqlState, toStoreError } from "./errors.ts";
import type { PostgresMigration } from "./migration.ts";
import { connectionConfig } from "./pool.ts";
import { canAssume, prepareRole, roleName, type WriterRole } from "./role.ts";

export interface Prepared {
  readonly role: WriterRole;
  /** The workspaces that this login was given; none where the schema has no workspaces yet. */
  readonly workspaces: readonly WorkspaceName[];
  /** Row-level security does not hold for the login itself, as for a superuser. */
  readonly isUnguarded: boolean;
  readonly serverVersion: string;
}

/** A workspace as its members name it. */
export interface WorkspaceName {
  readonly id: string;
  readonly name: string;
}

/** One step of the schema, by its number. */
interface Step {
  readonly version: number;
  readonly name: string;
}

/** What a database holds, for a program that knows these migrations. */
export interface DatabaseState extends Prepared {
  readonly applied: readonly number[];
  readonly missing: readonly Step[];
}

/** What was done to a database, or would be. */
export interface Migrated extends DatabaseState {
  /** The statements of every step that is missing, for a dry run. */
  readonly sql: readonly string[];
}

type Ports = { readonly clock: Clock; readonly ids: Ids };

/** Looks at the database and changes nothing. A schema that a newer program has changed is STORE_VERSION. */
export async function inspectDatabase(
  address: Address,
  migrations: readonly PostgresMigration[],
): Promise<DatabaseState> {
  return withClient(address, async (client, facts) => {
    await client.query(address.begin("repeatable read read only"));
    const applied = await listApplied(client, address);
    const state = { applied, missing: findMissing(applied, migrations, address), ...(await facts.look()) };
    await client.query("rollback");
    return state;
  });
}

/** The database as a store works with it; refuses one whose schema is not the one this program knows. */
export async function requireDatabase(address: Address, migrations: readonly PostgresMigration[]): Promise<Prepared> {
  const { missing, applied, ...prepared } = await inspectDatabase(address, migrations);
  if (missing.length > 0) throw tooOld(applied, migrations, address);
  if (prepared.role.name === null && prepared.isUnguarded) {
    throw new VerbatimError("STORE_UNGUARDED", { where: address.where, details: { why: prepared.role.why } });
  }
  return prepared;
}

/** Brings the database up to date. This alone creates and alters anything in it. */
export async function migrateDatabase(
  address: Address,
  migrations: readonly PostgresMigration[],
  ports: Ports & { readonly dryRun?: boolean; readonly workspace?: string },
): Promise<Migrated> {
  return withClient(address, async (client, facts) => {
    const mode = ports.dryRun === true ? "repeatable read read only" : "read committed read write";
    await client.query(address.begin(mode));
    if (ports.dryRun !== true) await lockMigrations(client, address);
    const applied = await listApplied(client, address);
    const missing = findMissing(applied, migrations, address);
    await client.query("select set_config('verbatim.workspace_name', $1, true)", [ports.workspace ?? ""]);
    const sql = ports.dryRun === true ? missing.flatMap((migration) => toStatements(migration, address, ports)) : [];
    if (ports.dryRun !== true) await applyMigrations(client, address, missing, ports, facts.role);
    const state = { applied, missing: missing.map(({ version, name }) => ({ version, name })), sql };
    const looked = await facts.look();
    await client.query(ports.dryRun === true ? "rollback" : "commit");
    return { ...state, ...looked };
  });
}

async function withClient<T>(
  address: Address,
  fn: (client: pg.ClientBase, facts: { readonly role: string; look(): Promise<Prepared> }) => Promise<T>,
): Promise<T> {
  const client = new pg.Client(connectionConfig(address));
  // A connection that breaks also fails the query that waits for it; that is where it is reported.
  client.on("error", () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ database: string; version: string }>(
      "select current_database() as database, current_setting('server_version') as version",
    );
    const role = roleName(rows[0]!.database, address.schema);
    const look = async () => ({
      role: (await canAssume(client, role)) ? { name: role, why: null } : notUsable(role),
      isUnguarded: await isUnguarded(client),
      workspaces: await listWorkspaces(client, address),
      serverVersion: rows[0]!.version,
    });
    return await fn(client, { role, look });
  } catch (thrown) {
    throw explain(thrown, address);
  } finally {
    await client.end();
  }
}

/** Other processes wait here and then find it done. */
async function lockMigrations(client: pg.ClientBase, { schema }: Address): Promise<void> {
  await client.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [`verbatim ${schema} migrate`]);
}

/** The statements of one step as people read them; values that are made when it runs stay parameters. */
function toStatements(migration: PostgresMigration, { schema }: Address, ports: Ports): string[] {
  const seeds = migration.seed?.(schema, ports) ?? [];
  return [migration.sql(schema).trim(), ...seeds.map(({ sql }) => `${sql}; -- values are made when it runs`)];
}

async function applyMigrations(
  client: pg.ClientBase,
  { schema }: Address,
  missing: readonly PostgresMigration[],
  ports: Ports,
  role: string,
): Promise<void> {
  if (missing.length > 0) await client.query(`create schema if not exists ${schema}`);
  // Rows of all workspaces are brought up to date together, by the owner of the schema.
  if (missing.length > 0 && (await hasWorkspaces(client, schema))) {
    await client.query(`select ${schema}.guard_tables(false)`);
  }
  for (const migration of missing) {
    if (migration.sql(schema) !== "") await client.query(migration.sql(schema));
    for (const { sql, values } of migration.seed?.(schema, ports) ?? []) await client.query(sql, [...values]);
    await client.query(`insert into ${schema}.migration (version, name, time) values ($1, $2, $3)`, [
      migration.version,
      migration.name,
      formatTime(ports.clock.now()),
    ]);
  }
  if (missing.length > 0 && (await hasWorkspaces(client, schema))) {
    await client.query(`select ${schema}.isolate_tables()`);
  }
  if (missing.length > 0 || !(await canAssume(client, role))) await prepareRole(client, schema, role);
}

/** The versions that were applied; none where there is no store. */
async function listApplied(client: pg.ClientBase, { schema }: Address): Promise<number[]> {
  // Not to_regclass: its cache may still say no after another process, for which this one waited, has said yes.
  const { rowCount } = await client.query(
    `select 1 from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and c.relname = 'migration'`,
    [schema],
  );
  if (rowCount === 0) return [];
  const { rows } = await client.query<{ version: number }>(`select version from ${schema}.migration order by version`);
  return rows.map((row) => row.version);
}

/** The migrations a schema lacks. Refuses a store that a newer program has changed, before anything is changed. */
function findMissing(
  applied: readonly number[],
  migrations: readonly PostgresMigration[],
  { where }: Address,
): PostgresMigration[] {
  try {
    return missingMigrations(migrations, applied, where);
  } catch (thrown) {
    if (!isVerbatimError(thrown) || thrown.code !== "STORE_FROM_FUTURE") throw thrown;
    throw new VerbatimError("STORE_VERSION", {
      message: thrown.message,
      where,
      fix: "Use that version of Verbatim or a newer one.",
      ...(thrown.details === undefined ? {} : { details: thrown.details }),
    });
  }
}

/** The workspace of this name, or the only one of this login. WORKSPACE_UNKNOWN, WORKSPACE_NOT_SET. */
export function findTeamWorkspace(
  { workspaces }: Pick<Prepared, "workspaces">,
  name: string | undefined,
  where: string,
): WorkspaceName {
  const names = workspaces.map((one) => one.name);
  if (name === undefined && workspaces.length > 1) {
    throw new VerbatimError("WORKSPACE_NOT_SET", { where, details: { workspaces: names } });
  }
  const found = name === undefined ? workspaces[0] : workspaces.find((one) => one.name === name);
  if (found !== undefined) return found;
  throw new VerbatimError("WORKSPACE_UNKNOWN", {
    message:
      name === undefined
        ? "this login has not been given a workspace"
        : `this login has not been given a workspace ${name}`,
    where,
    details: { workspace: name ?? null, workspaces: names },
  });
}

function tooOld(
  applied: readonly number[],
  migrations: readonly PostgresMigration[],
  { where, schema }: Address,
): VerbatimError {
  const newest = newestVersion(migrations);
  const message =
    applied.length === 0
      ? `there is no store in the schema ${schema} of this database yet`
      : `the store has version ${Math.max(...applied)}, and this Verbatim works with version ${newest}`;
  return new VerbatimError("STORE_VERSION", {
    message,
    where,
    details: { version: Math.max(0, ...applied), newest },
  });
}

async function hasWorkspaces(client: pg.ClientBase, schema: string): Promise<boolean> {
  const { rowCount } = await client.query(
    `select 1 from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
     where n.nspname = $1 and p.proname = 'workspaces_of_login'`,
    [schema],
  );
  return rowCount !== 0;
}

async function listWorkspaces(client: pg.ClientBase, { schema }: Address): Promise<WorkspaceName[]> {
  if (!(await hasWorkspaces(client, schema))) return [];
  return (await client.query<WorkspaceName>(`select id, name from ${schema}.workspaces_of_login()`)).rows;
}

async function isUnguarded(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ passes: boolean }>(
    "select rolsuper or rolbypassrls as passes from pg_roles where rolname = current_user",
  );
  return rows[0]!.passes;
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
