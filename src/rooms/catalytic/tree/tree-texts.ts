import { decodeUtf8 } from "../../../core/canonical/index.ts";
import type { ReadyFile } from "../ports.ts";
import type { DomainState, Tree } from "./tree.ts";

type TextName = "trees" | "manifests" | "inputs";

/** Canonical texts and roots of the tree of a view, which is the only domain of its run. */
export interface TreeTexts {
  /** PRE_TREE.json, PRE_MANIFEST.json and INPUT_HASHES.json without their line feeds. */
  readonly trees: string;
  readonly manifests: string;
  readonly inputs: string;
  readonly state: DomainState;
  /** The same with their line feeds, and the index to them, where they are ready. */
  readonly files?: Readonly<Record<TextName, ReadyFile>> & { readonly index?: ReadyFile };
  /** The same where they were just made. */
  readonly bytes?: TreeBytes;
}

/** The texts with their line feeds, and the packed index to them. */
type TreeBytes = Readonly<Record<TextName | "index", Uint8Array>>;

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

/** Texts that become such when someone reads them. */
export function toTexts(bytes: TreeBytes, state: DomainState): TreeTexts {
  const text = (name: TextName) => decodeUtf8(bytes[name].subarray(0, -1)) ?? "";
  return {
    bytes,
    state,
    get trees() {
      return text("trees");
    },
    get manifests() {
      return text("manifests");
    },
    get inputs() {
      return text("inputs");
    },
  };
}
