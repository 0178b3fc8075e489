import { ERASED_BODY } from "../../../core/ledger/index.ts";
import { WORLD_TABLES } from "../world-writer.ts";
import type { SqliteWriteConnection } from "./connection.ts";

/** Takes a world out of a store: its rows, and the bodies of its records. The guards stand again afterwards. */
export function eraseWorld(
  connection: SqliteWriteConnection,
  world: { readonly number: number; readonly world_id: string },
  stream: string,
  below: number,
): void {
  const tables = ["ledger_entry", ...WORLD_TABLES];
  const triggers = connection
    .all<{ name: string; sql: string; tbl_name: string }>(
      "select name, sql, tbl_name from sqlite_schema where type = 'trigger'",
    )
    .filter((trigger) => tables.includes(trigger.tbl_name));
  for (const { name } of triggers) connection.run(`drop trigger ${name}`);
  connection.run("update ledger_entry set body = ? where stream = ? and position < ?", ERASED_BODY, stream, below);
  for (const table of WORLD_TABLES) connection.run(`delete from ${table} where world = ?`, world.number);
  connection.run("delete from world_token where world_id = ?", world.world_id);
  connection.run("delete from world where number = ?", world.number);
  for (const { sql } of triggers) connection.run(sql);
}
