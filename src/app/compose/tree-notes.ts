import type { TreeScan } from "../../rooms/catalytic/index.ts";

/** Under which name a look at the tree keeps what git said about it. */
export const GIT_NOTE = "git";

/** What git said about a tree. It holds as long as nothing of the tree, of `.git` and of git's settings changes. */
export interface GitFacts {
  readonly commit: string;
  readonly tree: string;
  readonly dirty: readonly string[];
  /** The tree of the working state with everything that is not tracked. */
  readonly base_tree: string;
}

/** What git said about a tree that has not changed since; null when nobody asked. */
export function readGitFacts(look: TreeScan | null): GitFacts | null {
  const note = look?.note(GIT_NOTE) ?? null;
  return note === null ? null : (JSON.parse(note) as GitFacts);
}
