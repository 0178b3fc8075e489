import type { Finding } from "../../core/errors/index.ts";
import type { ReadTransaction, Store, WriteTransaction } from "../../core/ports.ts";
import type { SymbolRecord } from "./contracts/index.ts";

/** Why a file cannot be a source; a member of `details.problems` of INDEX_SOURCES_INVALID. */
export interface SourceProblem {
  readonly code: Finding<"context">;
  readonly file_path: string;
  readonly byte_offset?: number;
  readonly bytes?: number;
  readonly limit?: number;
}

/** What tells a changed file from an unchanged one without opening it: bytes, and milliseconds with fractions. */
export interface FileStat {
  readonly size: number;
  readonly mtime_ms: number;
  readonly ctime_ms: number;
  readonly ino: number;
  readonly dev: number;
}

/** In lists of facts each file has this many numbers, in the order of FileStat: objects would cost more than the disk. */
export const STAT_FIELDS = 5;

/** Paths and, for each, its facts. */
export interface StatList {
  readonly paths: readonly string[];
  readonly stats: Float64Array;
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

export interface Walk extends StatList {
  /** Selected files that are links, with the place they lead to, relative to the root. */
  readonly links: ReadonlyMap<string, string>;
  /** Links to folders; they are not entered. */
  readonly skipped_links: string[];
  readonly problems: SourceProblem[];
  /** Folders that were looked into. While all are unchanged, so is the list; null where a link had a say in it. */
  readonly folders: StatList | null;
}

/** The files of a workspace. Calls answer at once: ten thousand promises would cost more than the reading. */
export interface SourceTree {
  /** Time of the file system in milliseconds: the mtime of a file written just now. */
  clock(): number;
  /** All selected files, by code point of their paths. */
  walk(rules: WalkRules): Walk;
  /** The facts of real files or folders, links not followed; NaN where there is none. */
  statAll(paths: readonly string[], kind: "file" | "folder"): Float64Array;
  /** Where a walk would find this file, relative to the root and through a link if it is one, or why it would not. */
  inspect(path: string): string | SourceProblem;
  /** The facts of one source, links followed; null when there is no regular file. */
  stat(path: string): FileStat | null;
  /**
   * Bytes of a file, valid until the next call; a problem when it cannot be read or has more than `limit` bytes.
   * `size` is what its facts say, which spares asking for the end.
   */
  read(path: string, limit: number, size: number): Uint8Array | SourceProblem;
  /**
   * Paths of the regular files that git tracks below the root, in no particular order; null where there is no work tree.
   * SOURCES_NOT_LISTED when git does not answer.
   */
  tracked(): Promise<readonly string[] | null>;
  /** Gives others their turn. */
  pause(): Promise<void>;
}

/** Languages whose definitions become sections. TypeScript with JSX is parsed by other rules than without. */
export type CodeLanguage =
  | "c-sharp"
  | "cpp"
  | "go"
  | "java"
  | "javascript"
  | "php"
  | "python"
  | "ruby"
  | "rust"
  | "shell"
  | "tsx"
  | "typescript";

/** A named part of a file of code: whole lines, the end exclusive, and its names from the outermost. */
export interface CodeDefinition {
  readonly line_start: number;
  readonly line_end: number;
  readonly path: readonly string[];
}

/** Why a file of code has no outline. Only the last is not the same on every machine, so it fails a build. */
export type OutlineProblem = Finding<"context"> &
  ("OUTLINE_TOO_LARGE" | "OUTLINE_TOO_COMPLEX" | "OUTLINE_NOT_PARSED" | "OUTLINE_TIMEOUT");

/** The grammars that outlines are made with: one version, so that an index is the same on every machine. */
export const CODE_GRAMMARS = { package: "@vscode/tree-sitter-wasm", version: "0.3.1" } as const;

/** What finds the definitions of code. */
export interface CodeOutliner {
  /** Why the grammars cannot be used here; null when they can. Loads nothing. */
  missing(): string | null;
  /** The definitions of a text with folded line ends, in no particular order; OUTLINE_UNAVAILABLE when it cannot be asked. */
  outline(language: CodeLanguage, text: string): Promise<readonly CodeDefinition[] | OutlineProblem>;
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

/** Parts of the index that are read as one piece each (see index-image), and written in smaller ones. */
export type ImageName = "origin" | "paths" | "hashes" | "stats" | "folders" | "folder_stats" | "starts" | "ids";
export type ImagePiece = readonly [name: ImageName, bytes: Uint8Array];

/** One version of a file under one number of the section rules (see `toVersion`). */
export interface FileVersion {
  readonly path: string;
  readonly version: string;
}

/** The sections of one version of one file, as UTF-8 text (see section-rows). */
export interface FileRow extends FileVersion {
  readonly sections: Uint8Array;
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

/** A file that is searched: which version of it, and where its words are. */
export interface SearchFile extends FileVersion {
  readonly segment: number;
  readonly number: number;
}

/** Files whose words were written together (see search-segment). */
export interface SearchSegment {
  readonly id: number;
  /** Paths by number, joined with line feeds. */
  readonly paths: string;
  readonly files: number;
  /** 1 for one that may be made one with others. */
  readonly small: number;
  readonly sections: Uint8Array;
  /** Numbers of files that are searched elsewhere by now, or nowhere. */
  readonly gone: Uint8Array;
}

/** In which sections of a segment a word is. */
export interface SearchWord {
  readonly word: string;
  readonly postings: Uint8Array;
}

export interface FoundWord extends SearchWord {
  readonly segment: number;
}

/** A section that was found: the number of its file in the index, and its place there. */
export interface SearchHit {
  readonly file: number;
  readonly ordinal: number;
  readonly score: number;
}

export interface ContextReader {
  facts(): Promise<IndexFacts | null>;
  /** All pieces of an image, one after the other. */
  image(name: ImageName): Promise<Uint8Array>;
  file(version: FileVersion): Promise<FileRow | null>;
  /** Rows from a path on, in path order; several versions of a path may be there. */
  filesFrom(path: string, limit: number): Promise<FileRow[]>;
  countFiles(): Promise<number>;
  symbol(id: string): Promise<SymbolRow | null>;
  /** Those of the given symbols that exist, in no particular order. */
  symbols(ids: readonly string[]): Promise<SymbolRow[]>;
  /** All symbols with an id after the given one, by code point. */
  symbolsAfter(id: string, limit: number): Promise<SymbolRow[]>;
  /** What was noted of the index that was made searchable last; -1 when none was. */
  searchRevision(): Promise<number>;
  /** Files of the search index with a path after the given one. */
  searchFilesAfter(path: string, limit: number): Promise<SearchFile[]>;
  /** All segments, by id. */
  searchSegments(): Promise<SearchSegment[]>;
  /** The words from `first` to `last` of the segments in this range, by segment and word. */
  searchWords(firstSegment: number, lastSegment: number, first: string, last: string): Promise<FoundWord[]>;
}

export interface ContextWriter extends ContextReader {
  /** Writes rows that no image names yet; one that is there and damaged is repaired. */
  stageFiles(rows: readonly FileRow[]): Promise<void>;
  dropFiles(files: readonly FileVersion[]): Promise<void>;
  /** Makes a build current. */
  publish(facts: Omit<IndexFacts, "revision">, images: Iterable<ImagePiece>): Promise<void>;
  putSymbol(row: SymbolRow): Promise<void>;
  removeSymbol(id: string): Promise<void>;
  /** The revision of the index, which no build changes before this transaction ends; 0 without an index. */
  holdRevision(): Promise<number>;
  /** Makes a segment of these files, which are no longer searched anywhere else, and gives its id. */
  putSearchSegment(files: readonly FileVersion[], sections: Uint8Array, isSmall: boolean): Promise<number>;
  putSearchWords(segment: number, words: readonly SearchWord[]): Promise<void>;
  setSearchGone(segment: number, gone: Uint8Array): Promise<void>;
  dropSearchSegment(segment: number): Promise<void>;
  removeSearchFile(path: string): Promise<void>;
  clearSearch(): Promise<void>;
  setSearchRevision(mark: number): Promise<void>;
}

/** The store as this room sees it. */
export type ContextStore = Store<
  ReadTransaction & { readonly context: ContextReader },
  WriteTransaction & { readonly context: ContextWriter }
>;

/** Where a search reads: a store, or a reader of it that leaves the event loop alone. */
export interface SearchReader {
  read<T>(fn: (tx: { readonly context: ContextReader }) => Promise<T>): Promise<T>;
  /** Gets ready, so that the first search need not wait for it. */
  warm?(): void;
}

/** One build at a time: waits up to 10 s, then INDEX_BUSY. Set free when its process dies. */
export interface BuildLock {
  hold<T>(fn: () => Promise<T>): Promise<T>;
}
