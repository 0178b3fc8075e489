import type { SyncCrypto } from "../../core/ports.ts";
import { formatInputHashes } from "./closing.ts";
import {
  contentManifest,
  type DomainState,
  type Entry,
  formatSortedMap,
  formatTreeEntry,
  readTree,
  stateOf,
  type Tree,
} from "./tree.ts";
import { keepTexts, type TreeTexts } from "./tree-texts.ts";

/** Makes everything a record says about the tree of a view. Cost: five hashes per path. */
export function makeTexts(crypto: SyncCrypto, tree: Tree): TreeTexts {
  return {
    tree: formatSortedMap(tree, formatTreeEntry),
    manifest: formatSortedMap(contentManifest(tree), (hash) => `"${hash}"`),
    inputs: formatInputHashes(new Map([[".", tree]]), new Map()),
    state: stateOf(crypto, tree),
  };
}

/** A tree that is there as text and becomes a map when somebody asks for a path. */
export function recallTree(kept: TreeTexts): Tree {
  const tree = new WrittenTree(kept.tree, kept.state);
  keepTexts(tree, kept);
  return tree;
}

class WrittenTree implements ReadonlyMap<string, Entry> {
  readonly size: number;
  readonly #text: string;
  #made: Tree | null = null;

  constructor(text: string, state: DomainState) {
    this.#text = text;
    this.size = state.entries;
  }

  get #map(): Tree {
    this.#made ??= readTree(JSON.parse(this.#text)) ?? new Map();
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
