import type { BaseTree } from "../patch/ports.ts";

/** Where a commit goes: what it follows, and the ref that it moves. */
export interface CommitPoint {
  readonly commit: string;
  readonly tree: string;
  /** The branch HEAD is on, as `refs/heads/...`; null: HEAD stands on a commit by itself. */
  readonly branch: string | null;
}

/** A path of a tree of git. A submodule is `160000`. */
export interface TreePath {
  readonly path: string;
  readonly mode: string;
  readonly id: string;
}

/** What becomes of a path in a commit; null: it goes. */
export interface CommitRow {
  readonly path: string;
  readonly mode: "100644" | "100755" | "120000" | null;
  readonly id: string | null;
}

/** A hook of the repository that is there and would run. */
export interface CommitHook {
  readonly name: "pre-commit" | "commit-msg";
  /** Absolute, or from the root of the tree. */
  readonly place: string;
}

/**
 * What commits of the user's repository need of git. Hooks never run here. Programs of the user's settings (signing) run
 * only in `make`, which is called before anything of a candidate is in the tree.
 */
export interface Commits {
  /** GIT_IDENTITY_MISSING when git does not know who the author is. */
  requireIdentity(): Promise<void>;
  head(): Promise<CommitPoint>;
  /** What the repository is in the middle of, such as a merge; null: nothing. */
  unfinished(): Promise<string | null>;
  /** The whole name of a new branch; USAGE for a name that git does not take, COMMIT_REFUSED for one that is there. */
  newBranch(name: string): Promise<string>;
  paths(tree: string): Promise<readonly TreePath[]>;
  /** Those of some paths that a filter program of the user's settings would rewrite. */
  filtered(paths: readonly string[]): Promise<readonly string[]>;
  /** Stores bytes as `git add` would at that path, line ends included; filter programs have no say. */
  store(path: string, mode: string, bytes: Uint8Array): Promise<string>;
  /** A tree with some paths in place of those of another. */
  makeTree(base: BaseTree, rows: readonly CommitRow[]): Promise<string>;
  hooks(): Promise<readonly CommitHook[]>;
  /** Makes the commit, signed where the user's settings say so. Nothing refers to it. */
  make(request: {
    readonly tree: string;
    readonly parent: string;
    readonly message: string;
  }): Promise<{ readonly commit: string; readonly signed: boolean }>;
  /** Moves a ref (`HEAD` or a branch) from one commit to another, or makes it; false: it stands elsewhere, nothing was done. */
  move(ref: string, from: string | null, to: string, why: string): Promise<boolean>;
  /** Whether a ref still holds a commit. */
  holds(ref: string, commit: string): Promise<boolean>;
  /** Puts paths of a commit into the user's index; everything else in it stays. False: another program keeps it locked. */
  refreshIndex(rows: readonly CommitRow[]): Promise<boolean>;
}
