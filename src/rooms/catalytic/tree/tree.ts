import {
  compareCodePoints,
  formatString,
  isHash,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../../core/canonical/index.ts";
import type { SyncCrypto } from "../../../core/ports.ts";
import { EMPTY_ROOT } from "../contracts/constants.ts";
import { textsOfRun } from "./tree-texts.ts";

export interface FileEntry {
  readonly type: "file";
  /** `st_mode & 07777` as four octal digits. */
  readonly mode: string;
  readonly size: number;
  readonly sha256: string;
  /** First name, by bytes, of an inode that has several names in the domain. */
  readonly link_group?: string;
  readonly mtime_ns?: string;
}

interface FolderEntry {
  readonly type: "dir";
  readonly mode: string;
  readonly mtime_ns?: string;
}

interface LinkEntry {
  readonly type: "symlink";
  readonly target: string;
  readonly mtime_ns?: string;
}

/** What is at one path of a domain. */
export type Entry = FileEntry | FolderEntry | LinkEntry;

/** A special file, only ever listed in quarantine or refused. */
export interface OtherEntry {
  readonly type: "other";
}

/** The paths of one domain, by bytes; `.` is the domain itself, and an absent domain has no entries. */
export type Tree = ReadonlyMap<string, Entry>;

/** Domain -> tree, by bytes. */
export type Trees = ReadonlyMap<string, Tree>;

interface Roots {
  readonly content_root: string;
  readonly tree_root: string;
}

/** What PROOF.json says about a domain at one moment. */
export interface DomainState extends Roots {
  readonly exists: boolean;
  readonly entries: number;
  readonly bytes: number;
  readonly error?: string;
}

/** An entry as canonical JSON. Written by hand: a tree has many of them. */
export function formatTreeEntry(entry: Entry | OtherEntry): string {
  switch (entry.type) {
    case "file": {
      const group = entry.link_group === undefined ? "" : `"link_group":${formatString(entry.link_group)},`;
      return `{${group}"mode":"${entry.mode}",${mtime(entry)}"sha256":"${entry.sha256}","size":${entry.size},"type":"file"}`;
    }
    case "dir":
      return `{"mode":"${entry.mode}",${mtime(entry)}"type":"dir"}`;
    case "symlink":
      return `{${mtime(entry)}"target":${formatString(entry.target)},"type":"symlink"}`;
    case "other":
      return '{"type":"other"}';
  }
}

function mtime(entry: Entry): string {
  return entry.mtime_ns === undefined ? "" : `"mtime_ns":"${entry.mtime_ns}",`;
}

export function entryHash(crypto: SyncCrypto, entry: Entry): string {
  return crypto.sha256(formatTreeEntry(entry));
}

/**
 * The Merkle root of `path -> hex`: leaves `sha(path:hex)` by bytes of the path, nodes over two hex texts, an odd
 * level repeats its last node. Cost: two hashes per path.
 *
 * @example
 * const hash = nodeCrypto.sha256("At noon.");
 * merkleRoot(nodeCrypto, new Map([["low.txt", hash]])) === nodeCrypto.sha256(`low.txt:${hash}`); // => true
 */
export function merkleRoot(crypto: SyncCrypto, manifest: ReadonlyMap<string, string>): string {
  const paths = [...manifest.keys()].sort(compareCodePoints);
  return rootOf(
    crypto,
    paths.map((path) => crypto.sha256(`${path}:${manifest.get(path)!}`)),
  );
}

/** The root over leaves that are in order. */
function rootOf(crypto: SyncCrypto, leaves: readonly string[]): string {
  if (leaves.length === 0) return EMPTY_ROOT;
  let level = leaves;
  while (level.length > 1) {
    const next: string[] = [];
    for (let i = 0; i < level.length; i += 2) next.push(crypto.sha256(level[i]! + (level[i + 1] ?? level[i]!)));
    level = next;
  }
  return level[0]!;
}

/** Path -> SHA-256 of the regular files. */
export function contentManifest(tree: Tree): Map<string, string> {
  const manifest = new Map<string, string>();
  for (const [path, entry] of tree) if (entry.type === "file") manifest.set(path, entry.sha256);
  return manifest;
}

/** Both roots, the number of entries and the bytes of a tree, in one pass over paths that are in order. */
export function stateOf(crypto: SyncCrypto, tree: Tree): DomainState {
  const leaves: string[] = [];
  const contents: string[] = [];
  let bytes = 0;
  let before = "";
  for (const [path, entry] of tree) {
    if (leaves.length > 0 && compareCodePoints(before, path) >= 0) return stateOf(crypto, sortedMap(tree));
    before = path;
    leaves.push(crypto.sha256(`${path}:${entryHash(crypto, entry)}`));
    if (entry.type !== "file") continue;
    bytes += entry.size;
    contents.push(crypto.sha256(`${path}:${entry.sha256}`));
  }
  return {
    exists: tree.size > 0,
    content_root: rootOf(crypto, contents),
    tree_root: rootOf(crypto, leaves),
    entries: tree.size,
    bytes,
  };
}

/** A map as canonical JSON; keys are taken in the given order, which must be by bytes. */
export function formatSortedMap<T>(map: Iterable<readonly [string, T]>, format: (value: T) => string): string {
  let text = "{";
  for (const [key, value] of map) text += `${text.length > 1 ? "," : ""}${formatString(key)}:${format(value)}`;
  return `${text}}`;
}

/** PRE_TREE.json without its line feed. */
export function formatTrees(trees: Trees): string {
  return textsOfRun(trees)?.trees ?? formatSortedMap(trees, (tree) => formatSortedMap(tree, formatTreeEntry));
}

/** PRE_MANIFEST.json without its line feed. */
export function formatManifests(trees: Trees): string {
  const format = (tree: Tree) => formatSortedMap(contentManifest(tree), (hash) => `"${hash}"`);
  return textsOfRun(trees)?.manifests ?? formatSortedMap(trees, format);
}

/** A map with its keys by bytes. */
export function sortedMap<T>(entries: Iterable<readonly [string, T]>): Map<string, T> {
  return new Map([...entries].sort(([a], [b]) => compareCodePoints(a, b)));
}

/** Reads a tree that was written out, or null when an entry does not have the shape of one. */
export function readTree(value: JsonValue | undefined): Map<string, Entry> | null {
  if (!isJsonObject(value)) return null;
  const tree = new Map<string, Entry>();
  for (const path of Object.keys(value).sort(compareCodePoints)) {
    const entry = readEntry(value[path]);
    if (entry === null || path === "") return null;
    tree.set(path, entry);
  }
  return tree;
}

/** Reads PRE_TREE.json or POST_TREE.json, or null. */
export function readTrees(value: JsonValue | undefined): Map<string, Tree> | null {
  if (!isJsonObject(value)) return null;
  const trees = new Map<string, Tree>();
  for (const domain of Object.keys(value).sort(compareCodePoints)) {
    const tree = readTree(value[domain]);
    if (tree === null) return null;
    trees.set(domain, tree);
  }
  return trees;
}

const MODE = /^[0-7]{4}$/;
const NANOSECONDS = /^-?[0-9]{1,20}$/;

/** One entry of a tree, or null when it is not exactly one. */
export function readEntry(value: JsonValue | undefined): Entry | null {
  return isJsonObject(value) && isEntry(value) ? value : null;
}

function isEntry(value: JsonObject): value is JsonObject & Entry {
  const entry = value as JsonObject & Partial<Record<keyof FileEntry | "target", JsonValue>>;
  let known = 2;
  if (entry.mtime_ns !== undefined) {
    if (typeof entry.mtime_ns !== "string" || !NANOSECONDS.test(entry.mtime_ns)) return false;
    known++;
  }
  if (entry.type === "symlink") {
    if (typeof entry.target !== "string") return false;
  } else {
    if (typeof entry.mode !== "string" || !MODE.test(entry.mode)) return false;
    if (entry.type === "file") {
      if (typeof entry.sha256 !== "string" || !isHash(entry.sha256)) return false;
      if (typeof entry.size !== "number" || !Number.isSafeInteger(entry.size) || entry.size < 0) return false;
      known += 2;
      if (entry.link_group !== undefined) {
        if (typeof entry.link_group !== "string") return false;
        known++;
      }
    } else if (entry.type !== "dir") return false;
  }
  return Object.keys(value).length === known;
}
