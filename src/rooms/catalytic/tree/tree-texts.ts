import type { ReadyFile } from "../ports.ts";
import type { DomainState, Tree } from "./tree.ts";

/** Canonical texts and roots of the tree of a view, which is the only domain of its run. */
export interface TreeTexts {
  /** PRE_TREE.json, PRE_MANIFEST.json and INPUT_HASHES.json without their line feeds. */
  readonly trees: string;
  readonly manifests: string;
  readonly inputs: string;
  readonly state: DomainState;
  /** The same with their line feeds, where they are ready. */
  readonly files?: Readonly<Record<"trees" | "manifests" | "inputs", ReadyFile>>;
}

// A tree never changes, so what was made of it holds as long as it lives.
const texts = new WeakMap<Tree, TreeTexts>();

/** What was made of a tree before, if anyone kept it. */
export function textsOf(tree: Tree): TreeTexts | undefined {
  return texts.get(tree);
}

/** Keeps what was made of a tree, so that nobody makes it again. */
export function keepTexts(tree: Tree, made: TreeTexts): void {
  texts.set(tree, made);
}

/** What was made of the only tree of a run, if it is one. */
export function textsOfRun(trees: ReadonlyMap<string, Tree>): TreeTexts | undefined {
  const only = trees.size === 1 ? trees.get(".") : undefined;
  return only === undefined ? undefined : textsOf(only);
}
