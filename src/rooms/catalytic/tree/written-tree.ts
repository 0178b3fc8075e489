import { formatString, type JsonValue } from "../../../core/canonical/index.ts";
import type { SyncCrypto } from "../../../core/ports.ts";
import { formatInputHashes } from "../run/closing.ts";
import { type Entry, formatManifests, formatTrees, readEntry, readTrees, stateOf, type Tree } from "./tree.ts";
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

/** So many paths are looked up in the text; whoever asks for more has the map made. */
const MOST_FOUND = 64;
/** What comes before the entries of the only domain. */
const BEFORE_ENTRIES = '{".":';

class WrittenTree implements ReadonlyMap<string, Entry> {
  readonly size: number;
  readonly #kept: TreeTexts;
  #made: Tree | null = null;
  #text: string | null = null;
  #found = 0;

  constructor(kept: TreeTexts) {
    this.#kept = kept;
    this.size = kept.state.entries;
  }

  get #map(): Tree {
    this.#made ??= readTrees(JSON.parse(this.#text ?? this.#kept.trees))?.get(".") ?? new Map();
    this.#text = null;
    return this.#made;
  }

  get(path: string): Entry | undefined {
    if (this.#made !== null || this.#found++ >= MOST_FOUND) return this.#map.get(path);
    this.#text ??= this.#kept.trees;
    return findEntry(this.#text, path);
  }

  has(path: string): boolean {
    return this.get(path) !== undefined;
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

/**
 * The entry of one path in the canonical text of a tree. A quote that opens a name comes after a brace or a comma; inside
 * a text it comes after a backslash, and what follows the end of a text is never a path and a brace.
 */
export function findEntry(text: string, path: string): Entry | undefined {
  const name = `${formatString(path)}:{`;
  for (let at = text.indexOf(name, BEFORE_ENTRIES.length); at !== -1; at = text.indexOf(name, at + 1)) {
    if (text[at - 1] !== "{" && text[at - 1] !== ",") continue;
    const from = at + name.length - 1;
    const value = JSON.parse(text.slice(from, endOfEntry(text, from))) as JsonValue;
    return readEntry(value) ?? undefined;
  }
  return undefined;
}

/** Where the object ends that begins at a place: objects in it there are none, braces in texts there may be. */
function endOfEntry(text: string, from: number): number {
  let isText = false;
  for (let at = from; at < text.length; at++) {
    const char = text[at];
    if (isText && char === "\\") at++;
    else if (char === '"') isText = !isText;
    else if (char === "}" && !isText) return at + 1;
  }
  return text.length;
}
