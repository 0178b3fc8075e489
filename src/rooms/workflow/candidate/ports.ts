/** One side of a changed path, with its mode as git writes it. */
export interface ChangeSide {
  readonly mode: "100644" | "100755" | "120000";
  readonly bytes: Uint8Array;
}

/** What an agent left at a path. Its bytes are read when they are needed, so that never two files are held at once. */
interface LeftSide {
  readonly mode: ChangeSide["mode"];
  readonly hasNul: boolean;
  read(): Promise<Uint8Array>;
}

/** A path that differs from a tree. */
export interface PathChange {
  readonly path: string;
  /** Bytes before, for paths the tree does not hold as files; null: nothing was there. */
  readonly before: (() => ChangeSide) | null;
  readonly after: LeftSide | null;
}

/** What a patch of changed paths is made from. */
export interface ChangePatchRequest {
  readonly root: string;
  /** The tree the patch begins with. */
  readonly tree: string;
  /** Folder for new objects, next to those of the repository. */
  readonly objects: string;
  readonly changes: readonly PathChange[];
}

/** The patch in two parts: what can travel, and links and files with NUL, which a gate must see to refuse. */
export interface ChangePatch {
  readonly text: Uint8Array;
  readonly rest: Uint8Array;
}

/** What git says about paths that an agent changed. */
export interface ChangedPaths {
  formatPatch(request: ChangePatchRequest): Promise<ChangePatch>;
  /** Of these paths, those that git keeps with other bytes than the tree shows. */
  listFiltered(root: string, paths: readonly string[]): Promise<ReadonlySet<string>>;
  /** Of these paths, those that the rules of the tree ignore; a folder ends in a slash. */
  listIgnored(root: string, paths: readonly string[]): Promise<ReadonlySet<string>>;
}
