/** A commit as its object says it; grafts and replacements of the repository have no say. */
export interface CommitFacts {
  readonly commit: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
}

/** A path in which a commit differs from its first parent; null: it is gone. */
export interface ChangedPath {
  readonly path: string;
  readonly mode: string | null;
  readonly id: string | null;
}

/** The objects and notes of a repository. The work tree, its index and its settings have no say in any answer. */
export interface History {
  /** The commit of a name; null: there is none. */
  find(name: string): Promise<CommitFacts | null>;
  /** The commits of `A..B` or `A...B`, the oldest first; null: git knows no such range. */
  list(range: string): Promise<readonly string[] | null>;
  /** Against the first parent, by path. CHECK_HISTORY_MISSING where that parent is not here. */
  changes(facts: CommitFacts): Promise<readonly ChangedPath[]>;
  /** SHA-256 of the bytes of a blob. */
  hash(id: string): Promise<string>;
  /** A regular file of a commit; null where there is none or it is larger. */
  file(commit: string, path: string, most: number): Promise<Uint8Array | null>;
  /** Where both began to differ; null: nowhere. */
  mergeBase(one: string, other: string): Promise<string | null>;
  /** The lines of the note of a commit on refs/notes/verbatim. */
  note(commit: string): Promise<readonly string[]>;
  /** Puts lines in the place of that note, whatever others write meanwhile. */
  editNote(commit: string, edit: (lines: readonly string[]) => readonly string[]): Promise<void>;
  /** The path from the top of the work tree of a place that is inside it, by its name or by where links lead; else null. */
  inside(place: string): string | null;
}
