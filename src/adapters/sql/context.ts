import { formatCanonical } from "../../core/canonical/index.ts";
import type { SymbolRecord } from "../../rooms/context/contracts/index.ts";
import type {
  ContextReader,
  ContextWriter,
  FileRow,
  FileVersion,
  FoundWord,
  ImageName,
  ImagePiece,
  IndexFacts,
  LastTarget,
  SearchFile,
  SearchSegment,
  SearchWord,
  SymbolRow,
} from "../../rooms/context/ports.ts";
import { joinBytes } from "./bytes.ts";
import type { ReadSql, WriteSql } from "./statements.ts";

interface StoredSymbol {
  readonly symbol: string;
  readonly last: string | null;
}

/** How a database finds what the room looks for; everything else means the same in both. */
export interface ContextDialect {
  symbols(ids: readonly string[]): Promise<StoredSymbol[]>;
}

/** A symbol by its id. */
export const SYMBOL = "select symbol, last from context_symbol where symbol_id = ?";

/** Reads the tables of the context room inside one transaction. */
export class SqlContextReader<C extends ReadSql = ReadSql> implements ContextReader {
  protected readonly sql: C;
  readonly #dialect: ContextDialect;

  constructor(sql: C, dialect: ContextDialect) {
    this.sql = sql;
    this.#dialect = dialect;
  }

  async facts(): Promise<IndexFacts | null> {
    const sql =
      "select index_hash, files, sections, sources_hash, rules, built_at, revision from context_fact where id = 1";
    return (await this.sql.get<IndexFacts>(sql)) ?? null;
  }

  async image(name: ImageName): Promise<Uint8Array> {
    const sql = "select bytes from context_image where name = ? order by part";
    return joinBytes((await this.sql.all<{ bytes: Uint8Array }>(sql, name)).map(({ bytes }) => bytes));
  }

  async file({ path, version }: FileVersion): Promise<FileRow | null> {
    const sql = "select path, version, sections from context_file where path = ? and version = ?";
    return (await this.sql.get<FileRow>(sql, path, version)) ?? null;
  }

  async filesFrom(path: string, limit: number): Promise<FileRow[]> {
    const sql = "select path, version, sections from context_file where path >= ? order by path, version limit ?";
    return this.sql.all<FileRow>(sql, path, limit);
  }

  async countFiles(): Promise<number> {
    return (await this.sql.get<{ count: number }>("select count(*) as count from context_file"))!.count;
  }

  async symbol(id: string): Promise<SymbolRow | null> {
    const row = await this.sql.get<StoredSymbol>(SYMBOL, id);
    return row === undefined ? null : toSymbolRow(row);
  }

  async symbols(ids: readonly string[]): Promise<SymbolRow[]> {
    return (await this.#dialect.symbols(ids)).map(toSymbolRow);
  }

  async symbolsAfter(id: string, limit: number): Promise<SymbolRow[]> {
    const sql = "select symbol, last from context_symbol where symbol_id > ? order by symbol_id limit ?";
    return (await this.sql.all<StoredSymbol>(sql, id, limit)).map(toSymbolRow);
  }

  async searchRevision(): Promise<number> {
    const sql = "select revision from context_search_fact where id = 1";
    return (await this.sql.get<{ revision: number }>(sql))?.revision ?? -1;
  }

  async searchFilesAfter(path: string, limit: number): Promise<SearchFile[]> {
    const sql = "select path, version, segment, number from context_search_file where path > ? order by path limit ?";
    return this.sql.all<SearchFile>(sql, path, limit);
  }

  async searchSegments(): Promise<SearchSegment[]> {
    const sql = "select id, paths, files, small, sections, gone from context_search_segment order by id";
    return this.sql.all<SearchSegment>(sql);
  }

  async searchWords(firstSegment: number, lastSegment: number, first: string, last: string): Promise<FoundWord[]> {
    // For each segment its own range: the words of all segments are never looked through.
    const sql = `select w.segment, w.word, w.postings from context_search_segment s cross join context_search_word w
      where s.id >= ? and s.id <= ? and w.segment = s.id and w.word >= ? and w.word <= ? order by w.segment, w.word`;
    return this.sql.all<FoundWord>(sql, firstSegment, lastSegment, first, last);
  }
}

/** Writes them as well. Rows that come in great numbers are each database's own. */
export abstract class SqlContextWriter extends SqlContextReader<WriteSql> implements ContextWriter {
  abstract stageFiles(rows: readonly FileRow[]): Promise<void>;
  abstract dropFiles(files: readonly FileVersion[]): Promise<void>;
  abstract holdRevision(): Promise<number>;
  abstract putSearchWords(segment: number, words: readonly SearchWord[]): Promise<void>;

  async publish(facts: Omit<IndexFacts, "revision">, images: Iterable<ImagePiece>): Promise<void> {
    const { index_hash, files, sections, sources_hash, rules, built_at } = facts;
    await this.sql.run(
      `insert into context_fact (id, index_hash, files, sections, sources_hash, rules, built_at, revision)
       values (1, ?, ?, ?, ?, ?, ?, 1) on conflict (id) do update set
       index_hash = excluded.index_hash, files = excluded.files, sections = excluded.sections,
       sources_hash = excluded.sources_hash, rules = excluded.rules, built_at = excluded.built_at,
       revision = context_fact.revision + 1`,
      index_hash,
      files,
      sections,
      sources_hash,
      rules,
      built_at,
    );
    await this.sql.run("delete from context_image");
    const sql = "insert into context_image (name, part, bytes) values (?, ?, ?)";
    let part = 0;
    for (const [name, bytes] of images) await this.sql.run(sql, name, part++, bytes);
  }

  async putSymbol({ symbol, last }: SymbolRow): Promise<void> {
    await this.sql.run(
      `insert into context_symbol (symbol_id, symbol, last) values (?, ?, ?)
       on conflict (symbol_id) do update set symbol = excluded.symbol, last = excluded.last`,
      symbol.symbol_id,
      formatCanonical(symbol),
      last === null ? null : formatCanonical(last),
    );
  }

  async removeSymbol(id: string): Promise<void> {
    await this.sql.run("delete from context_symbol where symbol_id = ?", id);
  }

  async putSearchSegment(files: readonly FileVersion[], sections: Uint8Array, isSmall: boolean): Promise<number> {
    const next = await this.sql.get<{ id: number }>(
      "select coalesce(max(id), 0) + 1 as id from context_search_segment",
    );
    const { id } = next!;
    await this.sql.run(
      "insert into context_search_segment (id, paths, files, small, sections, gone) values (?, ?, ?, ?, ?, ?)",
      id,
      files.map(({ path }) => path).join("\n"),
      files.length,
      isSmall ? 1 : 0,
      sections,
      new Uint8Array(),
    );
    const sql = `insert into context_search_file (path, version, segment, number) values (?, ?, ?, ?)
      on conflict (path) do update set version = excluded.version, segment = excluded.segment, number = excluded.number`;
    for (const [number, { path, version }] of files.entries()) await this.sql.run(sql, path, version, id, number);
    return id;
  }

  async setSearchGone(segment: number, gone: Uint8Array): Promise<void> {
    await this.sql.run("update context_search_segment set gone = ? where id = ?", gone, segment);
  }

  async dropSearchSegment(segment: number): Promise<void> {
    await this.sql.run("delete from context_search_word where segment = ?", segment);
    await this.sql.run("delete from context_search_segment where id = ?", segment);
  }

  async removeSearchFile(path: string): Promise<void> {
    await this.sql.run("delete from context_search_file where path = ?", path);
  }

  async clearSearch(): Promise<void> {
    for (const table of ["word", "file", "segment", "fact"]) await this.sql.run(`delete from context_search_${table}`);
  }

  async setSearchRevision(revision: number): Promise<void> {
    await this.sql.run(
      `insert into context_search_fact (id, revision) values (1, ?)
       on conflict (id) do update set revision = excluded.revision`,
      revision,
    );
  }
}

function toSymbolRow({ symbol, last }: StoredSymbol): SymbolRow {
  return {
    symbol: JSON.parse(symbol) as SymbolRecord,
    last: last === null ? null : (JSON.parse(last) as LastTarget),
  };
}
