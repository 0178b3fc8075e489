import type { SearchEngine } from "../../../rooms/context/ports.ts";
import { loadSqlite, SqliteDatabase, type SqliteStatement } from "./driver.ts";

// The same tokenizer as in the store, so both always agree on what a word is.
const TABLE = `create virtual table line using fts5(body, tokenize = "unicode61 remove_diacritics 2")`;

interface LineTable {
  readonly database: SqliteDatabase;
  readonly insert: SqliteStatement;
  readonly find: SqliteStatement;
}

let opened: Promise<LineTable> | undefined;

async function openTable(): Promise<LineTable> {
  const database = new SqliteDatabase(await loadSqlite(), ":memory:", 0);
  database.exec(TABLE);
  return {
    database,
    insert: database.prepare("insert into line (rowid, body) values (?, ?)"),
    find: database.prepare("select min(rowid) as first from line where line match ?"),
  };
}

/** Searching with FTS5. Lines go through a table of their own in memory, which is empty between calls. */
export const sqliteSearch: SearchEngine = {
  form: "spaced",
  async firstLine(query, lines) {
    opened ??= openTable();
    const { database, insert, find } = await opened;
    database.exec("begin");
    try {
      for (const [i, line] of lines.entries()) insert.run([i, line]);
      return (find.get([query]) as { first: number | null }).first ?? -1;
    } finally {
      database.exec("rollback");
    }
  },
};
