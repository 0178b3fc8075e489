/** A tree of a repository; `objects` is a folder with objects the repository itself does not have. */
export interface BaseTree {
  readonly tree: string;
  readonly objects: string | null;
}

/** What stands at a path; an executable file is told apart because patches name modes. */
export type TargetType = "missing" | "file" | "executable" | "link" | "folder" | "other";

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
  /** `git apply --check --numstat --summary -z`. `paths` is every path the patch names, and the folders around them. */
  check(patch: Uint8Array, base: BaseTree | null, paths: readonly string[]): Promise<GitReply>;
  targets(paths: readonly string[], base: BaseTree | null): Promise<ReadonlyMap<string, TargetType>>;
  /** The names in each of some folders that exists; the root is the empty text. */
  entries(folders: readonly string[], base: BaseTree | null): Promise<ReadonlyMap<string, readonly string[]>>;
  /** Paths of everything below a folder that is not a folder itself. */
  below(folder: string, base: BaseTree | null): Promise<readonly string[]>;
}
