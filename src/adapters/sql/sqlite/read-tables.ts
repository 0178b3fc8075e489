import { loadSqlite, SqliteDatabase } from "./driver.ts";

const BUSY_MS = 10_000;
const PAGE = 500;

/** The tables of a store in a file, as they are. */
export interface TableSource {
  tables(): readonly string[];
  columns(table: string): readonly string[];
  /** All rows in the order in which they were written, some at a time; each has the values of these columns. */
  rows(table: string, columns: readonly string[]): Iterable<readonly (readonly unknown[])[]>;
  close(): void;
}

/** Copies a store as it is at this moment, whoever else has it open. */
export async function copyStore(path: string, copy: string): Promise<void> {
  const database = new SqliteDatabase(await loadSqlite(), path, BUSY_MS);
  try {
    database.check();
    database.prepare("vacuum into ?").run([copy]);
  } finally {
    database.close();
  }
}

export async function readTables(path: string): Promise<TableSource> {
  const database = new SqliteDatabase(await loadSqlite(), path, BUSY_MS);
  database.forbidWriting();
  const columns = (table: string) =>
    (database.prepare(`select name from pragma_table_info(?)`).all([table]) as { name: string }[]).map(
      ({ name }) => name,
    );
  return {
    columns,
    tables: () =>
      (database.prepare("select name from sqlite_master where type = 'table'").all([]) as { name: string }[]).map(
        ({ name }) => name,
      ),
    *rows(table, wanted) {
      const hasRowid = !/\bwithout\s+rowid\b/i.test(
        (database.prepare("select sql from sqlite_master where name = ?").get([table]) as { sql: string }).sql,
      );
      const list = wanted.map((name) => `"${name}"`).join(", ");
      const order = hasRowid ? "order by rowid" : "";
      const page = database.prepare(`select ${list} from "${table}" ${order} limit ${PAGE} offset ?`);
      for (let done = 0; ; done += PAGE) {
        const rows = page.all([done]) as Record<string, unknown>[];
        if (rows.length > 0) yield rows.map((row) => wanted.map((name) => row[name]));
        if (rows.length < PAGE) return;
      }
    },
    close: () => database.close(),
  };
}
