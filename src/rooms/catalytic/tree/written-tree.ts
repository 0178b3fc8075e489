import type { SyncCrypto } from "../../../core/ports.ts";
import { formatInputHashes } from "../run/closing.ts";
import { type Entry, formatManifests, formatTrees, readTrees, stateOf, type Tree } from "./tree.ts";
import { keepTexts, type TreeTexts } from "./tree-texts.ts";

/** Makes everything a record says about the tree of a view. Cost: five hashes per path. */
export function makeTexts(crypto: SyncCrypto, tree: Tree): TreeTexts {
  const trees = new Map([[".", tree]]);
  return {
    trees: formatTrees(trees),
    manifests: formatManifests(trees),
    inputs: formatInputHashes(trees, new Map()),
    state: stateOf(crypto, tree),
  };
}

/** A tree that is there as text and becomes a map when someone asks for a path. */
export function recallTree(kept: TreeTexts): Tree {
  const tree = new WrittenTree(kept);
  keepTexts(tree, kept);
  return tree;
}

class WrittenTree implements ReadonlyMap<string, Entry> {
  readonly size: number;
  readonly #kept: TreeTexts;
  #made: Tree | null = null;

  constructor(kept: TreeTexts) {
    this.#kept = kept;
    this.size = kept.state.entries;
  }

  get #map(): Tree {
    this.#made ??= readTrees(JSON.parse(this.#kept.trees))?.get(".") ?? new Map();
    return this.#made;
  }

  get(path: string): Entry | undefined {
    return this.#map.get(path);
  }

  has(path: string): boolean {
    return this.#map.has(path);
  }

  keys(): MapIterator<string> {
    return this.#map.keys();
  }

  values(): MapIterator<Entry> {
    return this.#map.values();
  }

  entries(): MapIterator<[string, Entry]> {
    return this.#map.entries();
  }

  [Symbol.iterator](): MapIterator<[string, Entry]> {
    return this.#map.entries();
  }

  forEach(each: (entry: Entry, path: string, map: ReadonlyMap<string, Entry>) => void): void {
    this.#map.forEach(each);
  }
}
