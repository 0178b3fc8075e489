import { ERASED_BODY } from "../../../core/ledger/index.ts";
import type { WorldReader, WorldRow, WorldWriter } from "../../../rooms/world/ports.ts";
import { SqlWorldReader, toFind, type WorldDialect } from "../world-reader.ts";
import { SqlWorldWriter, WORLD_TABLES } from "../world-writer.ts";
import type { SqliteReadConnection, SqliteWriteConnection } from "./connection.ts";
import { WORLD_GUARDS } from "./migrations/0006-world.ts";

const FIND = toFind(`(select json_group_array(json_array(number, person_id, display_name)) from
(select number, person_id, display_name from world_person p where p.world = world.number order by p.number))`);

const DIALECT: WorldDialect = {
  find: FIND,
  // A writer holds the whole file.
  hold: FIND,
  // SQLite joins blobs as text; the cast gives the same bytes back.
  appendedLows: "cast(lows || excluded.lows as blob)",
};

/** The world room's tables in SQLite. */
export const sqliteWorld = {
  read: (connection: SqliteReadConnection): WorldReader =>
    new SqlWorldReader(connection, DIALECT, () => findMissing(connection)),
  write: (connection: SqliteWriteConnection): WorldWriter => new SqliteWorldWriter(connection),
} as const;

class SqliteWorldWriter extends SqlWorldWriter {
  readonly #connection: SqliteWriteConnection;

  constructor(connection: SqliteWriteConnection) {
    super(connection, DIALECT, () => findMissing(connection));
    this.#connection = connection;
  }

  async erase(world: Pick<WorldRow, "number" | "world_id">, stream: string, below: number): Promise<void> {
    eraseWorld(this.#connection, world, stream, below);
  }
}

async function findMissing(connection: SqliteReadConnection): Promise<string[]> {
  const rows = connection.all<{ name: string }>("select name from sqlite_schema where type = 'trigger'");
  const there = new Set(rows.map(({ name }) => name));
  return WORLD_GUARDS.filter((name) => !there.has(name));
}

/** Takes a world out of a store: its rows, and the bodies of its records. The guards are back afterwards. */
function eraseWorld(
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
