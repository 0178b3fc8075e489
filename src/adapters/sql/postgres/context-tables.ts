import type { ContextReader, ContextWriter, FileRow, FileVersion, SearchWord } from "../../../rooms/context/ports.ts";
import { type ContextDialect, SqlContextReader, SqlContextWriter } from "../context.ts";
import type { PostgresReadConnection, PostgresWriteConnection } from "./connection.ts";
import { toReadSql, toWriteSql } from "./numbered.ts";

function toDialect(connection: PostgresReadConnection): ContextDialect {
  return {
    symbols: (ids) => connection.all("select symbol, last from context_symbol where symbol_id = any($1::text[])", ids),
  };
}

/** Sends many rows in one statement: a round trip costs more than a row. */
class PostgresContextWriter extends SqlContextWriter {
  readonly #connection: PostgresWriteConnection;

  constructor(connection: PostgresWriteConnection) {
    super(toWriteSql(connection), toDialect(connection));
    this.#connection = connection;
  }

  async stageFiles(rows: readonly FileRow[]): Promise<void> {
    if (rows.length === 0) return;
    await this.#connection.run(
      `insert into context_file as f (path, version, sections)
       select * from unnest($1::text[], $2::text[], $3::bytea[])
       on conflict (path, version) do update set sections = excluded.sections where f.sections <> excluded.sections`,
      rows.map(({ path }) => path),
      rows.map(({ version }) => version),
      rows.map(({ sections }) => sections),
    );
  }

  async dropFiles(files: readonly FileVersion[]): Promise<void> {
    if (files.length === 0) return;
    await this.#connection.run(
      `delete from context_file f using unnest($1::text[], $2::text[]) as gone (path, version)
       where f.path = gone.path and f.version = gone.version`,
      files.map(({ path }) => path),
      files.map(({ version }) => version),
    );
  }

  async holdRevision(): Promise<number> {
    const sql = "select revision from context_fact where id = 1 for update";
    return (await this.#connection.get<{ revision: number }>(sql))?.revision ?? 0;
  }

  async putSearchWords(segment: number, words: readonly SearchWord[]): Promise<void> {
    await this.#connection.run(
      `insert into context_search_word (segment, word, postings)
       select $1, * from unnest($2::text[], $3::bytea[])`,
      segment,
      words.map(({ word }) => word),
      words.map(({ postings }) => postings),
    );
  }
}

/** The context room's tables in PostgreSQL. */
export const postgresContext = {
  read: (connection: PostgresReadConnection): ContextReader =>
    new SqlContextReader(toReadSql(connection), toDialect(connection)),
  write: (connection: PostgresWriteConnection): ContextWriter => new PostgresContextWriter(connection),
};
