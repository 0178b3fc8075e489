import pg from "pg";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { Ids } from "../../../core/ports.ts";
import { type Address, parseAddress } from "./address.ts";
import { sqlState, toStoreError } from "./errors.ts";
import { requireDatabase } from "./migrate.ts";
import { POSTGRES_MIGRATIONS } from "./migrations/index.ts";
import { connectionConfig } from "./pool.ts";

const BUSY_MS = 10_000;

/** A workspace as it was made or found, and the logins that work in it. */
export interface AddedWorkspace {
  readonly id: string;
  readonly name: string;
  readonly existing: boolean;
  readonly logins: readonly string[];
}

/**
 * Makes a workspace, or gives one that is there to more logins. Only the owner of the schema may: who works in a workspace
 * has no right on these tables. Its ledger gets the id of the workspace.
 */
export async function addWorkspace(options: {
  readonly url: string;
  readonly name: string;
  /** Logins of the database that may work in it, besides the one that makes it. */
  readonly logins: readonly string[];
  readonly ids: Ids;
}): Promise<AddedWorkspace & Pick<Address, "where">> {
  const address = parseAddress(options.url, BUSY_MS);
  const { role } = await requireDatabase(address, POSTGRES_MIGRATIONS);
  const client = new pg.Client(connectionConfig(address));
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query(address.begin("read committed read write"));
    const added = await add(client, options, role.name);
    await client.query("commit");
    return { where: address.where, ...added };
  } catch (thrown) {
    throw sqlState(thrown) === "42501" ? notOwner(thrown, address) : toStoreError(thrown, address.where);
  } finally {
    await client.end();
  }
}

/** Makes a workspace inside a transaction of the owner; its own rights hold afterwards. */
export async function add(
  client: pg.Client,
  { name, logins, ids }: { readonly name: string; readonly logins: readonly string[]; readonly ids: Ids },
  role: string | null,
): Promise<AddedWorkspace> {
  // Two that make the same one: the second finds what the first made.
  await client.query("lock table workspace in share row exclusive mode");
  const known = (await client.query<{ id: string }>("select id from workspace where name = $1", [name])).rows[0];
  const id = known?.id ?? ids.uuid();
  if (known === undefined) {
    await client.query("insert into workspace (id, name, time) values ($1, $2, time_now())", [id, name]);
  }
  await client.query(
    "insert into access_login (login, workspace_id) values (session_user, $1) on conflict do nothing",
    [id],
  );
  for (const login of logins) {
    const { rowCount } = await client.query("select 1 from pg_roles where rolname = $1", [login]);
    if (rowCount === 0) throw new VerbatimError("LOGIN_UNKNOWN", { details: { login } });
    const sql = "insert into access_login (login, workspace_id) values ($1, $2) on conflict do nothing";
    await client.query(sql, [login, id]);
  }
  const sql = 'select login from access_login where workspace_id = $1 order by login collate "C"';
  const { rows } = await client.query<{ login: string }>(sql, [id]);
  if (known === undefined) {
    // Inside the workspace its own rights hold, also where the owner is a superuser who would see all rows.
    await client.query("select set_config('verbatim.workspace', $1, true)", [id]);
    if (role !== null) await client.query(`set local role ${role}`);
    await client.query("insert into store_fact (name, value) values ('ledger_id', $1)", [id]);
  }
  return { id, name, existing: known !== undefined, logins: rows.map(({ login }) => login) };
}

function notOwner(thrown: unknown, { where }: Address): VerbatimError {
  return new VerbatimError("STORE_REFUSED", {
    message: "this login may not create workspaces",
    where,
    fix: "Use the login that migrates the database.",
    cause: thrown,
  });
}
