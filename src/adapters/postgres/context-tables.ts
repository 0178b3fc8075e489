import { formatCanonical } from "../../core/canonical/index.ts";
import type { SymbolRecord } from "../../rooms/context/contracts.ts";
import type {
  CompiledQuery,
  ContextReader,
  ContextWriter,
  FileRow,
  ImageName,
  IndexFacts,
  LastTarget,
  SearchFile,
  SearchHit,
  SearchRow,
  SymbolRow,
} from "../../rooms/context/ports.ts";
import type { PostgresReadConnection, PostgresWriteConnection } from "./connection.ts";

const NO_BYTES = new Uint8Array();

interface StoredSymbol {
  readonly symbol: string;
  readonly last: string | null;
}

/** The tables of the context room inside one read transaction. */
export class PostgresContextReader implements ContextReader {
  readonly searchForm = "words";
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
    const sql = "select bytes from context_image where name = $1";
    return (await this.#connection.get<{ bytes: Uint8Array }>(sql, name))?.bytes ?? NO_BYTES;
  }

  async file(path: string, contentHash: string): Promise<FileRow | null> {
    const sql = "select path, content_hash, sections from context_file where path = $1 and content_hash = $2";
    return (await this.#connection.get<FileRow>(sql, path, contentHash)) ?? null;
  }

  async filesFrom(path: string, limit: number): Promise<FileRow[]> {
    const sql =
      "select path, content_hash, sections from context_file where path >= $1 order by path, content_hash limit $2";
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

  async symbolsAfter(id: string, limit: number): Promise<SymbolRow[]> {
    const sql = "select symbol, last from context_symbol where symbol_id > $1 order by symbol_id limit $2";
    return (await this.#connection.all<StoredSymbol>(sql, id, limit)).map(toSymbolRow);
  }

  async searchFilesAfter(path: string, limit: number): Promise<SearchFile[]> {
    const sql = "select path, content_hash from context_search_file where path > $1 order by path limit $2";
    return this.#connection.all<SearchFile>(sql, path, limit);
  }

  async search(query: CompiledQuery, limit: number): Promise<{ total: number; hits: SearchHit[] }> {
    const total = await this.#connection.get<{ count: number }>(
      "select count(*) as count from context_search where words @@ $1::tsquery",
      query.all,
    );
    const hits = await this.#connection.all<SearchHit>(
      `select s.path, f.content_hash, s.ordinal, ts_rank_cd(s.words, $1::tsquery)::float8 as score
       from context_search s join context_search_file f on f.path = s.path
       where s.words @@ $1::tsquery order by score desc, s.path, s.ordinal limit $2`,
      query.all,
      limit,
    );
    return { total: total!.count, hits };
  }

  async firstMatch(query: CompiledQuery, lines: readonly string[]): Promise<number> {
    const row = await this.#connection.get<{ first: number | null }>(
      `select min(n) as first from unnest($1::text[]) with ordinality as line (body, n)
       where to_tsvector('simple', body) @@ $2::tsquery`,
      [...lines],
      query.any,
    );
    return row?.first == null ? -1 : row.first - 1;
  }
}

/** The same inside a write transaction. */
export class PostgresContextWriter extends PostgresContextReader implements ContextWriter {
  readonly #connection: PostgresWriteConnection;

  constructor(connection: PostgresWriteConnection) {
    super(connection);
    this.#connection = connection;
  }

  async stageFiles(rows: readonly FileRow[]): Promise<void> {
    await this.#connection.run(
      `insert into context_file (path, content_hash, sections)
       select * from unnest($1::text[], $2::text[], $3::text[]) on conflict do nothing`,
      rows.map(({ path }) => path),
      rows.map(({ content_hash }) => content_hash),
      rows.map(({ sections }) => sections),
    );
  }

  async dropFiles(files: readonly SearchFile[]): Promise<void> {
    if (files.length === 0) return;
    await this.#connection.run(
      `delete from context_file f using unnest($1::text[], $2::text[]) as gone (path, content_hash)
       where f.path = gone.path and f.content_hash = gone.content_hash`,
      files.map(({ path }) => path),
      files.map(({ content_hash }) => content_hash),
    );
  }

  async publish(facts: Omit<IndexFacts, "revision">, images: Readonly<Record<ImageName, Uint8Array>>): Promise<void> {
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
    const sql =
      "insert into context_image (name, bytes) values ($1, $2) on conflict (name) do update set bytes = excluded.bytes";
    for (const [name, bytes] of Object.entries(images)) await this.#connection.run(sql, name, bytes);
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

  async putSearchFile(file: SearchFile, pathText: string, rows: readonly SearchRow[]): Promise<void> {
    await this.removeSearchFile(file.path);
    await this.#connection.run(
      "insert into context_search_file (path, content_hash) values ($1, $2)",
      file.path,
      file.content_hash,
    );
    // Words of the path and the headings count like words of the text.
    await this.#connection.run(
      `insert into context_search (path, ordinal, words)
       select $1, r.ordinal, to_tsvector('simple', r.body || ' ' || $2 || ' ' || r.headings)
       from unnest($3::bigint[], $4::text[], $5::text[]) as r (ordinal, body, headings)`,
      file.path,
      pathText,
      rows.map(({ ordinal }) => ordinal),
      rows.map(({ text }) => text),
      rows.map(({ headings }) => headings),
    );
  }

  async removeSearchFile(path: string): Promise<void> {
    await this.#connection.run("delete from context_search_file where path = $1", path);
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
