import { compareCodePoints, formatString, type JsonValue } from "../../../core/canonical/index.ts";
import type { SyncCrypto } from "../../../core/ports.ts";
import { buildLadder, type Ladder, type LeafChange, rootOfLadder, spliceLadder } from "./ladder.ts";
import { findMember, joinMembers, type MemberChange, type MemberText, memberAt, spliceMembers } from "./member-text.ts";
import { type Entry, formatTreeEntry, readEntry, readTrees, sortedMap, type Tree } from "./tree.ts";
import { packIndex, readIndex } from "./tree-index.ts";
import { keepTexts, type TreeTexts, toTexts } from "./tree-texts.ts";

/** What comes before the entries of the only domain, and after them. */
const BEFORE_ENTRIES = '{".":{';
const AFTER_ENTRIES = "}}\n";
/** The name of the domain, which the paths of INPUT_HASHES.json begin with. */
const DOMAIN = "./";

/** The texts of a tree, each with where its members are, and the hashes over them. */
interface TreeParts {
  readonly trees: MemberText;
  readonly manifests: MemberText;
  readonly inputs: MemberText;
  readonly tree: Ladder;
  readonly contents: Ladder;
}

/** Makes everything a record says about the tree of a view. Cost: five hashes per path. */
export function makeTexts(crypto: SyncCrypto, tree: Tree): TreeTexts {
  const entries: string[] = [];
  const leaves: string[] = [];
  const files: string[] = [];
  const inputs: string[] = [];
  const contents: string[] = [];
  let bytes = 0;
  let before: string | null = null;
  for (const [path, entry] of tree) {
    if (before !== null && compareCodePoints(before, path) >= 0) return makeTexts(crypto, sortedMap(tree));
    before = path;
    const text = formatTreeEntry(entry);
    entries.push(`${formatString(path)}:${text}`);
    leaves.push(crypto.sha256(`${path}:${crypto.sha256(text)}`));
    if (entry.type !== "file") continue;
    bytes += entry.size;
    files.push(formatFile(path, entry.sha256));
    inputs.push(formatFile(DOMAIN + path, entry.sha256));
    contents.push(crypto.sha256(`${path}:${entry.sha256}`));
  }
  const parts = {
    trees: joinMembers(BEFORE_ENTRIES, AFTER_ENTRIES, entries),
    manifests: joinMembers(BEFORE_ENTRIES, AFTER_ENTRIES, files),
    inputs: joinMembers("{", "}\n", inputs),
    tree: buildLadder(crypto, leaves),
    contents: buildLadder(crypto, contents),
  };
  return toMade(parts, bytes);
}

function formatFile(path: string, sha256: string): string {
  return `${formatString(path)}:"${sha256}"`;
}

function toMade({ trees, manifests, inputs, tree, contents }: TreeParts, bytes: number): TreeTexts {
  const entries = trees.starts.length;
  const index = packIndex({ entries: trees.starts, tree, files: manifests.starts, contents });
  return toTexts(
    { trees: trees.bytes, manifests: manifests.bytes, inputs: inputs.bytes, index },
    {
      exists: entries > 0,
      content_root: rootOfLadder(contents),
      tree_root: rootOfLadder(tree),
      entries,
      bytes,
    },
  );
}

/**
 * Makes the same of a tree that differs from one whose texts are ready, given what is now at the paths that may differ:
 * an entry, or null for nothing. Gives the ready ones back where nothing does, and null where they have no index. Cost: a
 * copy of the texts, and for every entry that came or went the hashes behind it.
 */
export function spliceTexts(
  crypto: SyncCrypto,
  kept: TreeTexts,
  changed: ReadonlyMap<string, Entry | null>,
): TreeTexts | null {
  const parts = kept.files?.index === undefined ? null : readParts({ ...kept.files, index: kept.files.index });
  if (parts === null) return null;
  const entries: (MemberChange & LeafChange)[] = [];
  const files: (MemberChange & LeafChange)[] = [];
  const inputs: MemberChange[] = [];
  let bytes = kept.state.bytes;
  for (const [path, entry] of sortedMap(changed)) {
    const place = findMember(parts.trees, path);
    const old = place.isThere ? memberAt(parts.trees, place.at) : null;
    const text = entry === null ? null : `${formatString(path)}:${formatTreeEntry(entry)}`;
    if (text === old) continue;
    const hash = entry === null ? null : crypto.sha256(formatTreeEntry(entry));
    entries.push({ ...place, text, leaf: hash === null ? null : crypto.sha256(`${path}:${hash}`) });
    bytes += sizeOf(entry) - sizeOf(old === null ? null : readMember(old, path));
    const file = findMember(parts.manifests, path);
    const sha256 = entry?.type === "file" ? entry.sha256 : null;
    if (sha256 === null && !file.isThere) continue;
    const leaf = sha256 === null ? null : crypto.sha256(`${path}:${sha256}`);
    files.push({ ...file, text: sha256 === null ? null : formatFile(path, sha256), leaf });
    inputs.push({ ...file, text: sha256 === null ? null : formatFile(DOMAIN + path, sha256) });
  }
  if (entries.length === 0) return kept;
  const made = {
    trees: spliceMembers(parts.trees, entries),
    manifests: spliceMembers(parts.manifests, files),
    inputs: spliceMembers(parts.inputs, inputs),
    tree: spliceLadder(crypto, parts.tree, entries),
    contents: spliceLadder(crypto, parts.contents, files),
  };
  return toMade(made, bytes);
}

function sizeOf(entry: Entry | null): number {
  return entry?.type === "file" ? entry.size : 0;
}

/** The entry in a member of a tree. */
function readMember(member: string, path: string): Entry | null {
  return readEntry(JSON.parse(member.slice(formatString(path).length + 1)) as JsonValue);
}

function readParts(files: Required<NonNullable<TreeTexts["files"]>>): TreeParts | null {
  const index = readIndex(files.index.read());
  if (index === null) return null;
  const { entries, files: starts, tree, contents } = index;
  const frame = { before: BEFORE_ENTRIES, after: AFTER_ENTRIES };
  return {
    trees: { ...frame, bytes: files.trees.read(), starts: entries },
    manifests: { ...frame, bytes: files.manifests.read(), starts },
    inputs: { before: "{", after: "}\n", bytes: files.inputs.read(), starts: starts.map(toInputStart) },
    tree,
    contents,
  };
}

/** A member of INPUT_HASHES.json is that of PRE_MANIFEST.json with the domain before the path. */
function toInputStart(start: number, i: number): number {
  return start - BEFORE_ENTRIES.length + 1 + i * DOMAIN.length;
}

/** A tree that is there as text and becomes a map when someone asks for a path. */
export function recallTree(kept: TreeTexts): Tree {
  const tree = new WrittenTree(kept);
  keepTexts(tree, kept);
  return tree;
}

/** So many paths are looked up in the text; whoever asks for more has the map made. */
const MOST_FOUND = 64;

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
  for (let at = text.indexOf(name, BEFORE_ENTRIES.length - 1); at !== -1; at = text.indexOf(name, at + 1)) {
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
