import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { TreeScan } from "../../../rooms/catalytic/index.ts";
import type { GitWork } from "../../../rooms/workflow/index.ts";
import { GIT_NOTE, type GitFacts, readGitFacts } from "../../compose/tree-notes.ts";

/** git as an agent run asks it, and the look at the tree that spares most of the questions. */
interface AgentBase {
  readonly git: GitWork;
  /** The look, once something was asked; null where there is none. */
  look(): TreeScan | null;
}

/**
 * Answers what an agent run asks git about its base from the last look at the tree, where nothing changed since. git
 * itself would compare every file once per question.
 */
export function rememberBase(git: GitWork, take: () => Promise<TreeScan | null>): AgentBase {
  let taken: Promise<TreeScan | null> | undefined;
  let look: TreeScan | null = null;
  const known = async (): Promise<GitFacts | null> => {
    taken ??= existsSync(join(git.root, ".git")) ? take() : Promise.resolve(null);
    look = await taken;
    return readGitFacts(look);
  };
  const head = once(async () => {
    const facts = await known();
    return facts === null ? git.head() : { commit: facts.commit, tree: facts.tree };
  });
  /** The tree of HEAD, where the working state is exactly that. */
  const cleanTree = once(async () => {
    const { commit, tree } = await head();
    return (await git.cleanCommit()) === commit ? tree : null;
  });
  const changedTracked = once(async () => {
    const facts = await known();
    if (facts !== null) return facts.dirty.slice();
    return (await cleanTree()) === null ? git.changedTracked() : [];
  });
  return {
    look: () => look,
    git: {
      ...git,
      head,
      changedTracked,
      async writeWorkingTree(objects, untracked) {
        const facts = await known();
        // A working state that is a commit's tree needs no objects of its own.
        if (untracked && facts !== null && facts.base_tree === facts.tree) {
          mkdirSync(objects, { recursive: true });
          return facts.base_tree;
        }
        const clean = untracked && facts === null ? await cleanTree() : null;
        if (clean !== null) mkdirSync(objects, { recursive: true });
        const base_tree = clean ?? (await git.writeWorkingTree(objects, untracked));
        if (untracked) {
          const now: GitFacts = { ...(await head()), dirty: await changedTracked(), base_tree };
          look?.setNote(GIT_NOTE, JSON.stringify(now));
        }
        return base_tree;
      },
    },
  };
}

function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  return () => {
    answer ??= ask();
    return answer;
  };
}
