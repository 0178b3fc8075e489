import { formatCanonical } from "../../../core/canonical/index.ts";
import type { SymbolRecord } from "../../../rooms/context/contracts/index.ts";
import type {
  CompiledQuery,
  ContextReader,
  ContextWriter,
  FileRow,
  FileVersion,
  ImageName,
  ImagePiece,
  IndexFacts,
  LastTarget,
  SearchHit,
  SearchRow,
  SymbolRow,
} from "../../../rooms/context/ports.ts";
import { joinBytes } from "../bytes.ts";
import type { PostgresReadConnection, PostgresWriteConnection } from "./connection.ts";

interface StoredSymbol {
  readonly symbol: string;
  readonly last: string | null;
}

/** The tables of the context room inside one read transaction. */
class PostgresContextReader implements ContextReader {
  readonly #connection: PostgresReadConnection;

  constructor(connection: PostgresReadConnection) {
    this.#connection = connection;
  }

  async facts(): Promise<IndexFacts | null> {
    const sql =
      "select index_hash, files, sections, sources_hash, rules, built_at, revision from context_fact where id = 1";
    return (await this.#connection.get<IndexFacts>(sql)) ?? null;
  }

  async image(name: ImageName): Promise<Uint8Array> {
    const sql = "select bytes from context_image where name = $1 order by part";
    return joinBytes((await this.#connection.all<{ bytes: Uint8Array }>(sql, name)).map(({ bytes }) => bytes));
  }

  async file({ path, version }: FileVersion): Promise<FileRow | null> {
    const sql = "select path, version, sections from context_file where path = $1 and version = $2";
    return (await this.#connection.get<FileRow>(sql, path, version)) ?? null;
  }

  async filesFrom(path: string, limit: number): Promise<FileRow[]> {
    const sql = "select path, version, sections from context_file where path >= $1 order by path, version limit $2";
    return this.#connection.all<FileRow>(sql, path, limit);
  }

  async countFiles(): Promise<number> {
    return (await this.#connection.get<{ count: number }>("select count(*) as count from context_file"))!.count;
  }

  async symbol(id: string): Promise<SymbolRow | null> {
    const sql = "select symbol, last from context_symbol where symbol_id = $1";
    const row = await this.#connection.get<StoredSymbol>(sql, id);
    return row === undefined ? null : toSymbolRow(row);
  }

  async symbols(ids: readonly string[]): Promise<SymbolRow[]> {
    const sql = "select symbol, last from context_symbol where symbol_id = any($1::text[])";
    return (await this.#connection.all<StoredSymbol>(sql, ids)).map(toSymbolRow);
  }

  async symbolsAfter(id: string, limit: number): Promise<SymbolRow[]> {
    const sql = "select symbol, last from context_symbol where symbol_id > $1 order by symbol_id limit $2";
    return (await this.#connection.all<StoredSymbol>(sql, id, limit)).map(toSymbolRow);
  }

  async searchRevision(): Promise<number> {
    const sql = "select revision from context_search_fact where id = 1";
    return (await this.#connection.get<{ revision: number }>(sql))?.revision ?? -1;
  }

  async searchFilesAfter(path: string, limit: number): Promise<FileVersion[]> {
    const sql = "select path, version from context_search_file where path > $1 order by path limit $2";
    return this.#connection.all<FileVersion>(sql, path, limit);
  }

  async search(query: CompiledQuery, limit: number): Promise<{ total: number; hits: SearchHit[] }> {
    // The terms of a long section may lie in different parts of it.
    const rows = await this.#connection.all<SearchHit & { total: number }>(
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
  }
}

/** The same inside a write transaction. */
class PostgresContextWriter extends PostgresContextReader implements ContextWriter {
  readonly #connection: PostgresWriteConnection;

  constructor(connection: PostgresWriteConnection) {
    super(connection);
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

  async publish(facts: Omit<IndexFacts, "revision">, images: Iterable<ImagePiece>): Promise<void> {
    const { index_hash, files, sections, sources_hash, rules, built_at } = facts;
    await this.#connection.run(
      `insert into context_fact as f (id, index_hash, files, sections, sources_hash, rules, built_at, revision)
       values (1, $1, $2, $3, $4, $5, $6, 1) on conflict (id) do update set
       index_hash = excluded.index_hash, files = excluded.files, sections = excluded.sections,
       sources_hash = excluded.sources_hash, rules = excluded.rules, built_at = excluded.built_at,
       revision = f.revision + 1`,
      index_hash,
      files,
      sections,
      sources_hash,
      rules,
      built_at,
    );
    await this.#connection.run("delete from context_image");
    const sql = "insert into context_image (name, part, bytes) values ($1, $2, $3)";
    let part = 0;
    for (const [name, bytes] of images) await this.#connection.run(sql, name, part++, bytes);
  }

  async putSymbol({ symbol, last }: SymbolRow): Promise<void> {
    await this.#connection.run(
      `insert into context_symbol (symbol_id, symbol, last) values ($1, $2, $3)
       on conflict (symbol_id) do update set symbol = excluded.symbol, last = excluded.last`,
      symbol.symbol_id,
      formatCanonical(symbol),
      last === null ? null : formatCanonical(last),
    );
  }

  async removeSymbol(id: string): Promise<void> {
    await this.#connection.run("delete from context_symbol where symbol_id = $1", id);
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

  async setSearchRevision(revision: number): Promise<void> {
    await this.#connection.run(
      `insert into context_search_fact (id, revision) values (1, $1)
       on conflict (id) do update set revision = excluded.revision`,
      revision,
    );
  }
}

/** What the context room gets on the doors of a PostgreSQL store. */
export const postgresContext = {
  read: (connection: PostgresReadConnection): ContextReader => new PostgresContextReader(connection),
  write: (connection: PostgresWriteConnection): ContextWriter => new PostgresContextWriter(connection),
};

function toSymbolRow({ symbol, last }: StoredSymbol): SymbolRow {
  return {
    symbol: JSON.parse(symbol) as SymbolRecord,
    last: last === null ? null : (JSON.parse(last) as LastTarget),
  };
}
