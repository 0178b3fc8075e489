import { createHash } from "node:crypto";
import type pg from "pg";
import { APPEND_ONLY_SUFFIX } from "./append-only.ts";
import { sqlState } from "./errors.ts";

/** The role whose rights the store works with, or why it works with those of the user who connects. */
export type WriterRole = { readonly name: string; readonly why: null } | { readonly name: null; readonly why: string };

/** One name per database and schema: roles belong to the whole server. */
export function roleName(database: string, schema: string): string {
  return `verbatim_writer_${createHash("sha256").update(`${database}/${schema}`).digest("hex").slice(0, 12)}`;
}

/** Whether the role is there and this user may take it on. */
export async function canAssume(client: pg.ClientBase, role: string): Promise<boolean> {
  return attempt(client, async () => {
    await client.query(`set local role ${role}`);
    await client.query("reset role");
  });
}

/** Makes the role where the user may, and gives it its rights. Runs inside the transaction of the migration. */
export async function prepareRole(client: pg.ClientBase, schema: string, role: string): Promise<void> {
  const made = await attempt(client, async () => {
    const { rowCount } = await client.query("select 1 from pg_roles where rolname = $1", [role]);
    if (rowCount === 0) await client.query(`create role ${role} nologin`);
    await client.query(`grant ${role} to current_user`);
  });
  if (made || (await canAssume(client, role))) await attempt(client, () => grantRights(client, schema, role));
}

/** Rows of append-only tables can be read and added; those of other tables can be changed too. */
async function grantRights(client: pg.ClientBase, schema: string, role: string): Promise<void> {
  await client.query(`grant usage on schema ${schema} to ${role}`);
  const { rows } = await client.query<{ name: string; append_only: boolean }>(
    `select c.relname as name, exists (
       select 1 from pg_trigger t where t.tgrelid = c.oid and t.tgname = c.relname || $2) as append_only
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and c.relkind = 'r' order by c.relname collate "C"`,
    [schema, APPEND_ONLY_SUFFIX],
  );
  for (const { name, append_only } of rows) {
    await client.query(`revoke all on ${schema}.${name} from ${role}`);
    const rights = rightsOn(name, append_only);
    if (rights !== null) await client.query(`grant ${rights} on ${schema}.${name} to ${role}`);
  }
}

/** Who works in a workspace does not decide which ones there are or who may work in them. */
function rightsOn(table: string, isAppendOnly: boolean): string | null {
  if (table === "workspace" || table === "access_login") return null;
  if (table === "incarnation") return "select";
  return isAppendOnly ? "select, insert" : "select, insert, update, delete";
}

// What a user without the right to make or take on roles is told; anything else is an error.
const NOT_ALLOWED = new Set(["42501", "22023", "42704", "0LP01"]);

/** Tries inside a savepoint; false when the server says that this user may not. */
async function attempt(client: pg.ClientBase, fn: () => Promise<void>): Promise<boolean> {
  await client.query("savepoint role");
  try {
    await fn();
    await client.query("release savepoint role");
    return true;
  } catch (thrown) {
    if (!NOT_ALLOWED.has(sqlState(thrown) ?? "")) throw thrown;
    await client.query("rollback to savepoint role");
    return false;
  }
}
