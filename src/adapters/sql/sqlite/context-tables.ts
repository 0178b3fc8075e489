import type { ContextReader, ContextWriter, FileRow, FileVersion, SearchWord } from "../../../rooms/context/ports.ts";
import { type ContextDialect, SqlContextReader, SqlContextWriter, SYMBOL } from "../context.ts";
import type { ReadSql } from "../statements.ts";
import type { SqliteWriteConnection } from "./connection.ts";

// Most of the time of an insertion is the way into the database, so rows go in portions.
const STAGED_AT_ONCE = 16;
const STAGE_ONE = toStaging(1);
const STAGE_MANY = toStaging(STAGED_AT_ONCE);

const WORDS_ONE = toWords(1);
const WORDS_MANY = toWords(STAGED_AT_ONCE);

function toWords(rows: number): string {
  return `insert into context_search_word (segment, word, postings) values ${Array(rows).fill("(?, ?, ?)").join(", ")}`;
}

function toStaging(rows: number): string {
  return `insert into context_file (path, version, sections) values ${Array(rows).fill("(?, ?, ?)").join(", ")}
    on conflict do update set sections = excluded.sections where sections <> excluded.sections`;
}

function toDialect(connection: ReadSql): ContextDialect {
  return {
    async symbols(ids) {
      const rows: { symbol: string; last: string | null }[] = [];
      for (const id of ids) {
        const row = await connection.get<{ symbol: string; last: string | null }>(SYMBOL, id);
        if (row !== undefined) rows.push(row);
      }
      return rows;
    },
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

  async putSearchWords(segment: number, words: readonly SearchWord[]): Promise<void> {
    const whole = words.length - (words.length % STAGED_AT_ONCE);
    for (let i = 0; i < whole; i += STAGED_AT_ONCE) {
      const values: (string | number | Uint8Array)[] = [];
      for (let k = i; k < i + STAGED_AT_ONCE; k++) values.push(segment, words[k]!.word, words[k]!.postings);
      this.#connection.run(WORDS_MANY, ...values);
    }
    for (const { word, postings } of words.slice(whole)) this.#connection.run(WORDS_ONE, segment, word, postings);
  }
}

/** The context room's tables in SQLite. */
export const sqliteContext = {
  read: (connection: ReadSql): ContextReader => new SqlContextReader(connection, toDialect(connection)),
  write: (connection: SqliteWriteConnection): ContextWriter => new SqliteContextWriter(connection),
};
