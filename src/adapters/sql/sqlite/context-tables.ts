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

interface StoredSymbol {
  readonly symbol: string;
  readonly last: string | null;
}

/** The tables of the context room inside one read transaction. */
class SqliteContextReader implements ContextReader {
  readonly #connection: SqliteReadConnection;

  constructor(connection: SqliteReadConnection) {
    this.#connection = connection;
  }

  async facts(): Promise<IndexFacts | null> {
    const sql =
      "select index_hash, files, sections, sources_hash, rules, built_at, revision from context_fact where id = 1";
    return this.#connection.get<IndexFacts>(sql) ?? null;
  }

  async image(name: ImageName): Promise<Uint8Array> {
    const sql = "select bytes from context_image where name = ? order by part";
    return joinBytes(this.#connection.all<{ bytes: Uint8Array }>(sql, name).map(({ bytes }) => bytes));
  }

  async file({ path, version }: FileVersion): Promise<FileRow | null> {
    const sql = "select path, version, sections from context_file where path = ? and version = ?";
    return this.#connection.get<FileRow>(sql, path, version) ?? null;
  }

  async filesFrom(path: string, limit: number): Promise<FileRow[]> {
    const sql = "select path, version, sections from context_file where path >= ? order by path, version limit ?";
    return this.#connection.all<FileRow>(sql, path, limit);
  }

  async countFiles(): Promise<number> {
    return this.#connection.get<{ count: number }>("select count(*) as count from context_file")!.count;
  }

  async symbol(id: string): Promise<SymbolRow | null> {
    return this.#findSymbol(id);
  }

  async symbols(ids: readonly string[]): Promise<SymbolRow[]> {
    return ids.map((id) => this.#findSymbol(id)).filter((row) => row !== null);
  }

  #findSymbol(id: string): SymbolRow | null {
    const row = this.#connection.get<StoredSymbol>("select symbol, last from context_symbol where symbol_id = ?", id);
    return row === undefined ? null : toSymbolRow(row);
  }

  async symbolsAfter(id: string, limit: number): Promise<SymbolRow[]> {
    const sql = "select symbol, last from context_symbol where symbol_id > ? order by symbol_id limit ?";
    return this.#connection.all<StoredSymbol>(sql, id, limit).map(toSymbolRow);
  }

  async searchRevision(): Promise<number> {
    const sql = "select revision from context_search_fact where id = 1";
    return this.#connection.get<{ revision: number }>(sql)?.revision ?? -1;
  }

  async searchFilesAfter(path: string, limit: number): Promise<FileVersion[]> {
    const sql = "select path, version from context_search_file where path > ? order by path limit ?";
    return this.#connection.all<FileVersion>(sql, path, limit);
  }

  async search(query: CompiledQuery, limit: number): Promise<{ total: number; hits: SearchHit[] }> {
    const count = this.#connection.get<{ count: number }>(
      "select count(*) as count from context_search where context_search match ?",
      query.all,
    )!.count;
    const hits = this.#connection.all<SearchHit>(
      `select f.path, s.rowid % ${ORDINALS} as ordinal, -bm25(context_search) as score
       from context_search s join context_search_file f on f.id = s.rowid / ${ORDINALS}
       where context_search match ? order by bm25(context_search), f.path, s.rowid limit ?`,
      query.all,
      limit,
    );
    return { total: count, hits };
  }
}

/** The same inside a write transaction. */
class SqliteContextWriter extends SqliteContextReader implements ContextWriter {
  readonly #connection: SqliteWriteConnection;

  constructor(connection: SqliteWriteConnection) {
    super(connection);
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

  async publish(facts: Omit<IndexFacts, "revision">, images: Iterable<ImagePiece>): Promise<void> {
    const { index_hash, files, sections, sources_hash, rules, built_at } = facts;
    this.#connection.run(
      `insert into context_fact (id, index_hash, files, sections, sources_hash, rules, built_at, revision)
       values (1, ?, ?, ?, ?, ?, ?, 1) on conflict (id) do update set
       index_hash = excluded.index_hash, files = excluded.files, sections = excluded.sections,
       sources_hash = excluded.sources_hash, rules = excluded.rules, built_at = excluded.built_at,
       revision = revision + 1`,
      index_hash,
      files,
      sections,
      sources_hash,
      rules,
      built_at,
    );
    this.#connection.run("delete from context_image");
    const sql = "insert into context_image (name, part, bytes) values (?, ?, ?)";
    let part = 0;
    for (const [name, bytes] of images) this.#connection.run(sql, name, part++, bytes);
  }

  async putSymbol({ symbol, last }: SymbolRow): Promise<void> {
    this.#connection.run(
      `insert into context_symbol (symbol_id, symbol, last) values (?, ?, ?)
       on conflict (symbol_id) do update set symbol = excluded.symbol, last = excluded.last`,
      symbol.symbol_id,
      formatCanonical(symbol),
      last === null ? null : formatCanonical(last),
    );
  }

  async removeSymbol(id: string): Promise<void> {
    this.#connection.run("delete from context_symbol where symbol_id = ?", id);
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

  async setSearchRevision(revision: number): Promise<void> {
    this.#connection.run(
      "insert into context_search_fact (id, revision) values (1, ?) on conflict do update set revision = excluded.revision",
      revision,
    );
  }
}

/** What the context room gets on the doors of a SQLite store. */
export const sqliteContext = {
  read: (connection: SqliteReadConnection): ContextReader => new SqliteContextReader(connection),
  write: (connection: SqliteWriteConnection): ContextWriter => new SqliteContextWriter(connection),
};

function toSymbolRow({ symbol, last }: StoredSymbol): SymbolRow {
  return {
    symbol: JSON.parse(symbol) as SymbolRecord,
    last: last === null ? null : (JSON.parse(last) as LastTarget),
  };
}
