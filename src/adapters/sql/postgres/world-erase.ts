import { ERASED_BODY } from "../../../core/ledger/index.ts";
import { WORLD_TABLES } from "../world-writer.ts";
import type { PostgresWriteConnection } from "./connection.ts";

const TABLES = ["ledger_entry", ...WORLD_TABLES];

// Enabled for this session, always, in a replica only.
const ENABLE: Readonly<Record<string, string>> = { O: "enable", A: "enable always", R: "enable replica" };

/**
 * Takes a world out of a store: its rows, and the bodies of its records. Only the owner of the schema can: the role
 * the store works with may not change history. The guards stand again before the transaction ends.
 */
export async function eraseWorld(
  connection: PostgresWriteConnection,
  world: { readonly number: number; readonly world_id: string },
  stream: string,
  below: number,
): Promise<void> {
  await connection.run("set local role none");
  // A deferred trigger that has not fired yet would keep its table from being changed.
  await connection.run("set constraints all immediate");
  const triggers = await connection.all<{ name: string; table: string; enabled: string }>(
    `select t.tgname as name, c.relname as table, t.tgenabled::text as enabled
     from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = current_schema() and c.relname = any($1::text[]) and not t.tgisinternal and t.tgenabled <> 'D'`,
    TABLES,
  );
  for (const table of TABLES) await connection.run(`alter table ${table} disable trigger user`);
  await connection.run(
    "update ledger_entry set body = $1 where stream = $2 and position < $3",
    ERASED_BODY,
    stream,
    below,
  );
  for (const table of WORLD_TABLES) await connection.run(`delete from ${table} where world = $1`, world.number);
  await connection.run("delete from world_token where world_id = $1", world.world_id);
  await connection.run("delete from world where number = $1", world.number);
  for (const { name, table, enabled } of triggers) {
    await connection.run(`alter table ${table} ${ENABLE[enabled] ?? "enable"} trigger ${name}`);
  }
}
