/** What is at a path of the repository. Links are followed; what they lead to is named by its real path. */
export type FoundFile =
  | { readonly state: "missing" | "unreadable" | "outside" }
  | {
      readonly state: "found";
      /** Real path relative to the repository's real root. */
      readonly real: string;
      readonly regular: boolean;
      readonly size: number;
      /** At most `most` bytes (null: all) as text; ill-formed UTF-8 becomes U+FFFD, nothing else changes. */
      read(most: number | null): { readonly text: string; readonly bytes: number; readonly complete: boolean };
      close(): void;
    };

/** Reads single files of a repository's working tree, never a folder. Synchronous: the librarian reads thousands. */
export interface RepoReader {
  /** Looks and keeps the file open for one read. */
  open(path: string): FoundFile;
  /** Looks only; `read` must not be called on the answer. */
  probe(path: string): FoundFile;
}

/** A tree of a repository; `objects` is a folder with objects the repository itself does not have. */
export interface BaseTree {
  readonly tree: string;
  readonly objects: string | null;
}

export type TargetType = "missing" | "file" | "link" | "folder" | "other";

/** What a finished git process left. */
export interface GitReply {
  readonly code: number;
  readonly stdout: Uint8Array;
  readonly stderr: string;
}

/** git as the last judge of a patch. `base` null means the working tree. */
export interface PatchChecker {
  /** PATCH_ENV_INVALID unless the root is the top of a work tree and git is new enough. */
  requireUsable(): Promise<void>;
  /** `git apply --check --numstat --summary -z`. */
  check(patch: Uint8Array, base: BaseTree | null): Promise<GitReply>;
  targets(paths: readonly string[], base: BaseTree | null): Promise<ReadonlyMap<string, TargetType>>;
}
