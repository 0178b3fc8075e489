import type {
  ContextReader,
  ContextWriter,
  FileRow,
  FileVersion,
  SearchHit,
  SearchRow,
} from "../../../rooms/context/ports.ts";
import { type ContextDialect, SqlContextReader, SqlContextWriter, SYMBOL } from "../context.ts";
import type { SqliteReadConnection, SqliteWriteConnection } from "./connection.ts";

const ORDINALS = 33_554_432;

// Most of the time of an insertion is the way into the database, so rows go in portions.
const STAGED_AT_ONCE = 16;
const STAGE_ONE = toStaging(1);
const STAGE_MANY = toStaging(STAGED_AT_ONCE);

function toStaging(rows: number): string {
  return `insert into context_file (path, version, sections) values ${Array(rows).fill("(?, ?, ?)").join(", ")}
    on conflict do update set sections = excluded.sections where sections <> excluded.sections`;
}

function toDialect(connection: SqliteReadConnection): ContextDialect {
  return {
    async search(query, limit) {
      const count = connection.get<{ count: number }>(
        "select count(*) as count from context_search where context_search match ?",
        query.all,
      )!.count;
      const hits = connection.all<SearchHit>(
        `select f.path, s.rowid % ${ORDINALS} as ordinal, -bm25(context_search) as score
         from context_search s join context_search_file f on f.id = s.rowid / ${ORDINALS}
         where context_search match ? order by bm25(context_search), f.path, s.rowid limit ?`,
        query.all,
        limit,
      );
      return { total: count, hits };
    },
    symbols: async (ids) =>
      ids
        .map((id) => connection.get<{ symbol: string; last: string | null }>(SYMBOL, id))
        .filter((row) => row !== undefined),
  };
}

class SqliteContextWriter extends SqlContextWriter {
  readonly #connection: SqliteWriteConnection;

  constructor(connection: SqliteWriteConnection) {
    super(connection, toDialect(connection));
    this.#connection = connection;
  }

  async stageFiles(rows: readonly FileRow[]): Promise<void> {
    const whole = rows.length - (rows.length % STAGED_AT_ONCE);
    for (let i = 0; i < whole; i += STAGED_AT_ONCE) {
      const values: (string | Uint8Array)[] = [];
      for (let k = i; k < i + STAGED_AT_ONCE; k++) values.push(rows[k]!.path, rows[k]!.version, rows[k]!.sections);
      this.#connection.run(STAGE_MANY, ...values);
    }
    for (const { path, version, sections } of rows.slice(whole)) {
      this.#connection.run(STAGE_ONE, path, version, sections);
    }
  }

  async dropFiles(files: readonly FileVersion[]): Promise<void> {
    const sql = "delete from context_file where path = ? and version = ?";
    for (const { path, version } of files) this.#connection.run(sql, path, version);
  }

  /** A write transaction is the only one of its kind, so nothing can change meanwhile. */
  async holdRevision(): Promise<number> {
    return (await this.facts())?.revision ?? 0;
  }

  async putSearchFile(file: FileVersion, rows: readonly SearchRow[]): Promise<void> {
    await this.removeSearchFile(file.path);
    const { id } = this.#connection.get<{ id: number }>(
      "insert into context_search_file (path, version, row_count) values (?, ?, ?) returning id",
      file.path,
      file.version,
      (rows.at(-1)?.ordinal ?? -1) + 1,
    )!;
    const sql = "insert into context_search (rowid, body, path, headings) values (?, ?, ?, ?)";
    for (const { ordinal, body, path, headings } of rows) {
      this.#connection.run(sql, id * ORDINALS + ordinal, body, path, headings);
    }
  }

  async removeSearchFile(path: string): Promise<void> {
    const known = this.#connection.get<{ id: number; row_count: number }>(
      "select id, row_count from context_search_file where path = ?",
      path,
    );
    if (known === undefined) return;
    for (let ordinal = 0; ordinal < known.row_count; ordinal++) {
      this.#connection.run("delete from context_search where rowid = ?", known.id * ORDINALS + ordinal);
    }
    this.#connection.run("delete from context_search_file where id = ?", known.id);
  }

  async clearSearch(): Promise<void> {
    this.#connection.run("insert into context_search (context_search) values ('delete-all')");
    this.#connection.run("delete from context_search_file");
    this.#connection.run("delete from context_search_fact");
  }
}

/** The context room's tables in SQLite. */
export const sqliteContext = {
  read: (connection: SqliteReadConnection): ContextReader => new SqlContextReader(connection, toDialect(connection)),
  write: (connection: SqliteWriteConnection): ContextWriter => new SqliteContextWriter(connection),
};
