import type { DomainState, Tree } from "./tree.ts";

/** Canonical texts and roots of one tree, which is the only domain of its run. */
export interface TreeTexts {
  /** One domain of PRE_TREE.json, of PRE_MANIFEST.json, and the whole of INPUT_HASHES.json. */
  readonly tree: string;
  readonly manifest: string;
  readonly inputs: string;
  readonly state: DomainState;
}

// A tree never changes, so what was made of it holds as long as it lives.
const texts = new WeakMap<Tree, TreeTexts>();

/** What was made of a tree before, if anybody kept it. */
export function textsOf(tree: Tree): TreeTexts | undefined {
  return texts.get(tree);
}

/** Keeps what was made of a tree, so that nobody makes it again. */
export function keepTexts(tree: Tree, made: TreeTexts): void {
  texts.set(tree, made);
}
