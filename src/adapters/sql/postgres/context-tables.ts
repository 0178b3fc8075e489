import type {
  ContextReader,
  ContextWriter,
  FileRow,
  FileVersion,
  SearchHit,
  SearchRow,
} from "../../../rooms/context/ports.ts";
import { type ContextDialect, SqlContextReader, SqlContextWriter } from "../context.ts";
import type { PostgresReadConnection, PostgresWriteConnection } from "./connection.ts";
import { toReadSql, toWriteSql } from "./numbered.ts";

function toDialect(connection: PostgresReadConnection): ContextDialect {
  return {
    async search(query, limit) {
      // The terms of a long section may be in different parts of it.
      const rows = await connection.all<SearchHit & { total: number }>(
        `with hit as (
           select s.path, s.ordinal, max(ts_rank_cd(s.words, $1::tsquery))::float8 as score
           from unnest($2::tsquery[]) with ordinality as term (query, n)
           join context_search s on s.words @@ term.query
           group by s.path, s.ordinal having count(distinct term.n) = cardinality($2::tsquery[])
         )
         select path, ordinal, score, count(*) over () as total from hit
         order by score desc, path, ordinal limit $3`,
        query.all,
        query.terms,
        limit,
      );
      return {
        total: rows[0]?.total ?? 0,
        hits: rows.map(({ path, ordinal, score }) => ({ path, ordinal, score })),
      };
    },
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
    const sql = "select revision from context_fact where id = 1 for share";
    return (await this.#connection.get<{ revision: number }>(sql))?.revision ?? 0;
  }

  async putSearchFile(file: FileVersion, rows: readonly SearchRow[]): Promise<void> {
    await this.removeSearchFile(file.path);
    await this.#connection.run(
      "insert into context_search_file (path, version) values ($1, $2)",
      file.path,
      file.version,
    );
    await this.#connection.run(
      `insert into context_search (path, ordinal, part, words)
       select $1, r.ordinal, r.part, r.words::tsvector
       from unnest($2::bigint[], $3::bigint[], $4::text[]) as r (ordinal, part, words)`,
      file.path,
      rows.map(({ ordinal }) => ordinal),
      rows.map(({ part }) => part),
      rows.map(({ body }) => body),
    );
  }

  async removeSearchFile(path: string): Promise<void> {
    await this.#connection.run("delete from context_search_file where path = $1", path);
  }

  async clearSearch(): Promise<void> {
    await this.#connection.run("delete from context_search_file");
    await this.#connection.run("delete from context_search_fact");
  }
}

/** The context room's tables in PostgreSQL. */
export const postgresContext = {
  read: (connection: PostgresReadConnection): ContextReader =>
    new SqlContextReader(toReadSql(connection), toDialect(connection)),
  write: (connection: PostgresWriteConnection): ContextWriter => new PostgresContextWriter(connection),
};
