import type { WorldReader, WorldWriter } from "../../rooms/world/ports.ts";
import type { SqliteReadConnection, SqliteWriteConnection } from "./connection.ts";
import { WORLD_GUARDS } from "./migrations/0006-world.ts";
import { eraseWorld } from "./world-erase.ts";
import { SqlWorldReader } from "./world-reader.ts";
import { postingStatements, SqlWorldWriter, type WorldWriteSql } from "./world-writer.ts";

// SQLite joins blobs as text; the cast gives the same bytes back.
const ADD_POSTINGS = postingStatements("cast(lows || excluded.lows as blob)");

/** The world room's tables in SQLite. */
export const sqliteWorld = {
  read: (connection: SqliteReadConnection): WorldReader =>
    new SqlWorldReader(connection, () => findMissing(connection)),
  write: (connection: SqliteWriteConnection): WorldWriter => {
    const sql: WorldWriteSql = {
      get: (text, ...values) => connection.get(text, ...values),
      all: (text, ...values) => connection.all(text, ...values),
      run: (text, ...values) => connection.run(text, ...values),
      forUpdate: "",
      addPostings: ADD_POSTINGS,
      erase: (world, stream, below) => eraseWorld(connection, world, stream, below),
    };
    return new SqlWorldWriter(sql, () => findMissing(connection));
  },
} as const;

async function findMissing(connection: SqliteReadConnection): Promise<string[]> {
  const rows = connection.all<{ name: string }>("select name from sqlite_schema where type = 'trigger'");
  const there = new Set(rows.map(({ name }) => name));
  return WORLD_GUARDS.filter((name) => !there.has(name));
}
