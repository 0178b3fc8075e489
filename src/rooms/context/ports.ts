import type { ReadDoor, Store, WriteDoor } from "../../core/ports.ts";
import type { SymbolRecord } from "./contracts.ts";
import type { SourceProblem } from "./source.ts";

/** What tells a changed file from an unchanged one without opening it. All in nanoseconds or bytes. */
export interface FileStat {
  readonly size: bigint;
  readonly mtime_ns: bigint;
  readonly ctime_ns: bigint;
  readonly ino: bigint;
  readonly dev: bigint;
}

export interface SourceFile {
  readonly path: string;
  readonly stat: FileStat;
}

/** What the walk asks the room: the room knows globs, the adapter knows folders. */
export interface WalkRules {
  /** Folders to begin in, relative to the root; "" is the root itself. None contains another. */
  readonly prefixes: readonly string[];
  /** Whether anything below this folder could be a source. */
  enters(folder: string): boolean;
  /** Whether this path is selected. */
  matches(path: string): boolean;
}

export interface Walk {
  /** Selected files in no particular order. */
  readonly files: SourceFile[];
  readonly problems: SourceProblem[];
  /** Links to folders; they are not entered. */
  readonly skipped_links: string[];
}

/** The files of a workspace. Calls answer at once: ten thousand promises would cost more than the reading. */
export interface SourceTree {
  /** Time of the file system: the mtime of a file written just now. */
  clock(): bigint;
  walk(rules: WalkRules): Walk;
  /** The facts of one source, links followed inside the root; null when there is no regular file. */
  stat(path: string): FileStat | null;
  /** Bytes of a file, valid until the next call; a problem when it cannot be read or has more than `limit` bytes. */
  read(path: string, limit: number): Uint8Array | SourceProblem;
  /** Gives others their turn. */
  pause(): Promise<void>;
}

/** Numbers of the stored index. `rules` is the number of the section rules it was made with. */
export interface IndexFacts {
  readonly index_hash: string;
  readonly files: number;
  readonly sections: number;
  readonly sources_hash: string;
  readonly rules: number;
  /** Time of the build, RFC 3339. */
  readonly built_at: string;
  /** Raised by every build that changes anything, so that caches know. */
  readonly revision: number;
}

/** Parts of the index that are kept as one piece each. */
export const IMAGES = ["paths", "hashes", "stats", "starts", "ids"] as const;
export type ImageName = (typeof IMAGES)[number];

/** The sections of one version of one file, as text (see section-rows). */
export interface FileRow {
  readonly path: string;
  readonly content_hash: string;
  readonly sections: string;
}

/** A symbol and where it last pointed. */
export interface SymbolRow {
  readonly symbol: SymbolRecord;
  readonly last: LastTarget | null;
}

export interface LastTarget {
  readonly file_path: string;
  readonly heading_path: readonly string[];
  readonly line_start: number;
  readonly line_end: number;
}

/** The text of a section's own lines, to be searched, in the form the database wants. */
export interface SearchRow {
  readonly ordinal: number;
  readonly text: string;
  readonly headings: string;
}

export interface SearchFile {
  readonly path: string;
  readonly content_hash: string;
}

export interface SearchHit extends SearchFile {
  readonly ordinal: number;
  readonly score: number;
}

/** A query in the language of the database: every term, and any of them. */
export interface CompiledQuery {
  readonly all: string;
  readonly any: string;
}

/** How a database wants text: with spaces in scripts without them (FTS5), or as bare words (tsvector). */
export type SearchForm = "spaced" | "words";

export interface ContextReader {
  readonly searchForm: SearchForm;
  facts(): Promise<IndexFacts | null>;
  image(name: ImageName): Promise<Uint8Array>;
  file(path: string, contentHash: string): Promise<FileRow | null>;
  /** Rows from a path on, in path order. */
  filesFrom(path: string, limit: number): Promise<FileRow[]>;
  countFiles(): Promise<number>;
  symbol(id: string): Promise<SymbolRow | null>;
  /** All symbols with an id after the given one, by code point. */
  symbolsAfter(id: string, limit: number): Promise<SymbolRow[]>;
  /** Files of the search index with a path after the given one. */
  searchFilesAfter(path: string, limit: number): Promise<SearchFile[]>;
  /** Best hits first; equal ones by path and ordinal. */
  search(query: CompiledQuery, limit: number): Promise<{ readonly total: number; readonly hits: SearchHit[] }>;
  /** Number of the first line that has a word of the query, or -1. */
  firstMatch(query: CompiledQuery, lines: readonly string[]): Promise<number>;
}

export interface ContextWriter extends ContextReader {
  /** Adds rows that no image names yet; known ones stay. */
  stageFiles(rows: readonly FileRow[]): Promise<void>;
  dropFiles(files: readonly SearchFile[]): Promise<void>;
  /** Makes a build current. */
  publish(facts: Omit<IndexFacts, "revision">, images: Readonly<Record<ImageName, Uint8Array>>): Promise<void>;
  putSymbol(row: SymbolRow): Promise<void>;
  removeSymbol(id: string): Promise<void>;
  /** Replaces what is searched of a file. `pathText` is its path in the form the database wants. */
  putSearchFile(file: SearchFile, pathText: string, rows: readonly SearchRow[]): Promise<void>;
  removeSearchFile(path: string): Promise<void>;
}

/** The store as this room sees it. */
export type ContextStore = Store<
  ReadDoor & { readonly context: ContextReader },
  WriteDoor & { readonly context: ContextWriter }
>;

/** One build at a time: waits, then INDEX_BUSY. Set free when its process dies. */
export interface BuildLock {
  hold<T>(fn: () => Promise<T>): Promise<T>;
}
