import { type BigIntStats, lstatSync, readdirSync, readlinkSync } from "node:fs";
import { errnoCode } from "../../../core/errors/system.ts";

/** Numbers kept of one `lstat`: ino, mode, nlink, uid, gid, size, mtime and ctime in nanoseconds. */
export const WIDTH = 8;
export const DIGEST = 32;

const [INO, MODE, NLINK, UID, GID, SIZE, MTIME] = [0, 1, 2, 3, 4, 5, 6] as const;
export const CTIME = 7;
const TYPE_BITS = 0o170000;
const FOLDER = 0o040000;
const FILE = 0o100000;
const LINK = 0o120000;

/** Names that are not read, by the folder they are in. */
export type Hidden = Readonly<Record<string, readonly string[]>>;

/**
 * The stat of everything below a root, without an object per path. Entry 0 is the root itself; the entries of folder
 * `i` are `first[i]` up to `first[i + 1]`, in the order of its names.
 */
export interface TreeTable {
  /** Paths of the folders; the root is the empty text, and every folder comes after the one around it. */
  readonly folders: readonly string[];
  /** Names in each folder as the system lists them, joined by NUL. */
  readonly names: readonly string[];
  readonly first: Uint32Array;
  readonly stats: BigInt64Array;
  /** SHA-256 of each file that was read; zeros where it is not known. */
  readonly digests: Uint8Array;
  /** Targets of the links, by entry. */
  readonly targets: ReadonlyMap<number, string>;
}

/** One entry of a table with everything a fingerprint or a tree needs. */
export interface TableEntry {
  readonly at: number;
  readonly path: string;
  readonly type: "file" | "dir" | "symlink" | "other";
}

/** After how many folders somebody hears how many files were seen. */
const FOLDERS_SAID = 200;

/**
 * Reads a tree into a table. Folders of an older table that are known not to have changed are taken over, and so is the
 * digest of every file whose stat is the same. Null when a name is not UTF-8 or there are too many entries.
 */
export function readTable(
  root: string,
  hidden: Hidden,
  most: number,
  old: TreeTable | null,
  isSame: (folder: number) => boolean,
  onSeen?: (files: number) => void,
): TreeTable | null {
  const known = new Map(old?.folders.map((path, i) => [path, i]));
  const draft = new Draft();
  draft.add(lstatSync(root, { bigint: true }), null, () => null);
  for (let i = 0; i < draft.folders.length; i++) {
    const folder = draft.folders[i]!;
    const k = known.get(folder);
    draft.first.push(draft.count);
    if (draft.count > most) return null;
    if (i % FOLDERS_SAID === FOLDERS_SAID - 1) onSeen?.(draft.count - draft.folders.length);
    if (old !== null && k !== undefined && isSame(k)) draft.copy(old, k);
    else if (!draft.read(root, folder, hidden[folder] ?? [], old, k)) return null;
  }
  draft.first.push(draft.count);
  return draft.count > most ? null : draft.finish();
}

/** A table that grows. */
class Draft {
  readonly folders: string[] = [""];
  readonly names: string[] = [];
  readonly first: number[] = [];
  readonly targets = new Map<number, string>();
  count = 0;
  #stats = new BigInt64Array(WIDTH * 1024);
  #digests = new Uint8Array(DIGEST * 1024);

  add(facts: BigIntStats, digest: Uint8Array | null, readTarget: () => string | null): void {
    this.#grow(1);
    const at = this.count * WIDTH;
    const stats = this.#stats;
    stats[at + INO] = facts.ino;
    stats[at + MODE] = facts.mode;
    stats[at + NLINK] = facts.nlink;
    stats[at + UID] = facts.uid;
    stats[at + GID] = facts.gid;
    stats[at + SIZE] = facts.size;
    stats[at + MTIME] = facts.mtimeNs;
    stats[at + CTIME] = facts.ctimeNs;
    if (digest !== null) this.#digests.set(digest, this.count * DIGEST);
    const target = readTarget();
    if (target !== null) this.targets.set(this.count, target);
    this.count++;
  }

  copy(old: TreeTable, k: number): void {
    const [from, to] = [old.first[k]!, old.first[k + 1]!];
    this.#grow(to - from);
    this.#stats.set(old.stats.subarray(from * WIDTH, to * WIDTH), this.count * WIDTH);
    this.#digests.set(old.digests.subarray(from * DIGEST, to * DIGEST), this.count * DIGEST);
    const prefix = toPrefix(old.folders[k]!);
    let names: readonly string[] | null = null;
    for (let at = from; at < to; at++) {
      const type = Number(old.stats[at * WIDTH + MODE]!) & TYPE_BITS;
      if (type === LINK) this.targets.set(this.count + at - from, old.targets.get(at) ?? "");
      if (type !== FOLDER) continue;
      names ??= splitNames(old.names[k]!);
      this.folders.push(prefix + names[at - from]!);
    }
    this.names.push(old.names[k]!);
    this.count += to - from;
  }

  /** False for a name that is not UTF-8. */
  read(root: string, folder: string, hidden: readonly string[], old: TreeTable | null, k: number | undefined): boolean {
    const prefix = toPrefix(folder);
    const names = listNames(`${root}/${prefix}`, hidden);
    if (names === null) return false;
    const there: string[] = [];
    const was = new Map(old === null || k === undefined ? [] : splitNames(old.names[k]!).map((name, i) => [name, i]));
    for (const name of names) {
      const place = `${root}/${prefix}${name}`;
      const facts = lstatSync(place, { bigint: true, throwIfNoEntry: false });
      // It went away between two calls: then it is not there.
      if (facts === undefined) continue;
      there.push(name);
      const i = was.get(name);
      const digest = old === null || i === undefined ? null : digestOf(old, old.first[k!]! + i, facts);
      this.add(facts, digest, () => (facts.isSymbolicLink() ? readTarget(place) : null));
      if (facts.isDirectory()) this.folders.push(prefix + name);
    }
    this.names.push(there.join("\0"));
    return true;
  }

  finish(): TreeTable {
    // Shared, because another thread compares them too.
    const stats = new BigInt64Array(new SharedArrayBuffer(this.count * WIDTH * 8));
    stats.set(this.#stats.subarray(0, this.count * WIDTH));
    const first = new Uint32Array(new SharedArrayBuffer(this.first.length * 4));
    first.set(this.first);
    const { folders, names, targets } = this;
    return { folders, names, first, stats, digests: this.#digests.slice(0, this.count * DIGEST), targets };
  }

  #grow(more: number): void {
    const needed = this.count + more;
    if (needed * WIDTH <= this.#stats.length) return;
    const size = Math.max(needed, (this.#stats.length / WIDTH) * 2);
    const [stats, digests] = [new BigInt64Array(size * WIDTH), new Uint8Array(size * DIGEST)];
    stats.set(this.#stats);
    digests.set(this.#digests);
    this.#stats = stats;
    this.#digests = digests;
  }
}

/** The names in a folder, or null when one is not UTF-8: the system's own decoding put U+FFFD into it. */
function listNames(place: string, hidden: readonly string[]): string[] | null {
  const names = readNames(place);
  if (names.some((name) => name.includes("\ufffd"))) return null;
  return hidden.length === 0 ? names : names.filter((name) => !hidden.includes(name));
}

function readTarget(place: string): string {
  try {
    return readlinkSync(place);
  } catch (thrown) {
    if (["ENOENT", "EINVAL", "ENOTDIR"].includes(errnoCode(thrown) ?? "")) return "";
    throw thrown;
  }
}

function readNames(place: string): string[] {
  try {
    return readdirSync(place);
  } catch (thrown) {
    if (errnoCode(thrown) === "ENOENT" || errnoCode(thrown) === "ENOTDIR") return [];
    throw thrown;
  }
}

/** The digest an older table has for an entry, if its stat is still the same. */
function digestOf(old: TreeTable, at: number, facts: BigIntStats): Uint8Array | null {
  const s = old.stats;
  const k = at * WIDTH;
  const same =
    s[k + INO] === facts.ino &&
    s[k + MODE] === facts.mode &&
    s[k + NLINK] === facts.nlink &&
    s[k + UID] === facts.uid &&
    s[k + GID] === facts.gid &&
    s[k + SIZE] === facts.size &&
    s[k + MTIME] === facts.mtimeNs &&
    s[k + CTIME] === facts.ctimeNs;
  return same ? old.digests.subarray(at * DIGEST, (at + 1) * DIGEST) : null;
}

/**
 * Whether nothing differs but the times of one folder directly below the root, which then become those of the table.
 * git touches its own folder whenever someone looks at a status.
 */
export function isTouchedOnly(root: string, hidden: Hidden, table: TreeTable, name: string): boolean {
  const names = listNames(`${root}/`, hidden[""] ?? []);
  if (names === null || names.join("\0") !== table.names[0]) return false;
  const found = names.map((one) => lstatSync(`${root}/${one}`, { bigint: true }));
  const first = table.first[0]!;
  const s = table.stats;
  const isSame = found.every((facts, i) => {
    const k = (first + i) * WIDTH;
    if (names[i] !== name) return digestOf(table, first + i, facts) !== null;
    const { ino, mode, nlink, uid, gid } = facts;
    const kept = [ino, mode, nlink, uid, gid].every((value, field) => s[k + field] === value);
    return kept && facts.isDirectory();
  });
  if (!isSame) return false;
  const at = names.indexOf(name);
  const facts = found[at];
  if (facts === undefined) return true;
  const k = (first + at) * WIDTH;
  s[k + SIZE] = facts.size;
  s[k + MTIME] = facts.mtimeNs;
  s[k + CTIME] = facts.ctimeNs;
  return true;
}

/** How many entries of one folder are not folders. */
export function countFiles(table: TreeTable, folder: number): number {
  let files = 0;
  for (let at = table.first[folder]!; at < table.first[folder + 1]!; at++) if (typeOf(table, at) !== "dir") files++;
  return files;
}

/** The names of a folder as a list. */
function splitNames(names: string): string[] {
  return names === "" ? [] : names.split("\0");
}

/** What a path of this folder begins with. */
function toPrefix(folder: string): string {
  return folder === "" ? "" : `${folder}/`;
}

/** The entries of one folder. */
export function entriesOf(table: TreeTable, folder: number): TableEntry[] {
  const prefix = toPrefix(table.folders[folder]!);
  const first = table.first[folder]!;
  return splitNames(table.names[folder]!).map((name, i) => ({
    at: first + i,
    path: prefix + name,
    type: typeOf(table, first + i),
  }));
}

function typeOf(table: TreeTable, at: number): TableEntry["type"] {
  const type = Number(table.stats[at * WIDTH + MODE]!) & TYPE_BITS;
  return type === FILE ? "file" : type === FOLDER ? "dir" : type === LINK ? "symlink" : "other";
}

/** The stat of an entry as one text, as every other scan packs it. */
export function packEntry(table: TreeTable, at: number): string {
  const s = table.stats;
  const k = at * WIDTH;
  const type = typeOf(table, at);
  const size = type === "dir" ? 0n : s[k + SIZE];
  const target = type === "symlink" ? `|${table.targets.get(at) ?? ""}` : "";
  return `${type}|${s[k + INO]}|${s[k + MODE]! & 0o7777n}|${s[k + UID]}|${s[k + GID]}|${size}|${s[k + MTIME]}|${s[k + CTIME]}|${s[k + NLINK]}${target}`;
}

const SECOND = 1_000_000_000n;

/**
 * The stat of every entry as the system's own `statx` lays it out: number of names, owner, group, mode, inode, size, then
 * both times; and for every folder the entry that it is.
 */
export function toRows(table: TreeTable): { readonly rows: Uint8Array; readonly dirs: Uint32Array } {
  const { stats } = table;
  const entries = stats.length / WIDTH;
  const rows = new DataView(new ArrayBuffer(entries * 64));
  const dirs = new Uint32Array(table.folders.length);
  for (let i = 0, folder = 1; i < entries; i++) {
    const [k, at] = [i * WIDTH, i * 64];
    rows.setUint32(at, Number(stats[k + NLINK]!), true);
    rows.setUint32(at + 4, Number(stats[k + UID]!), true);
    rows.setUint32(at + 8, Number(stats[k + GID]!), true);
    rows.setUint16(at + 12, Number(stats[k + MODE]!), true);
    rows.setBigInt64(at + 16, stats[k + INO]!, true);
    rows.setBigInt64(at + 24, stats[k + SIZE]!, true);
    for (const [field, place] of [
      [CTIME, at + 32],
      [MTIME, at + 48],
    ] as const) {
      const time = stats[k + field]!;
      const rest = ((time % SECOND) + SECOND) % SECOND;
      rows.setBigInt64(place, (time - rest) / SECOND, true);
      rows.setUint32(place + 8, Number(rest), true);
    }
    // Every folder comes in the order in which its entry does.
    if (i > 0 && (Number(stats[k + MODE]!) & TYPE_BITS) === FOLDER) dirs[folder++] = i;
  }
  return { rows: new Uint8Array(rows.buffer), dirs };
}

/** Whether the entries of one folder are there with the stat the table has, no more and no fewer. */
export function isSameFolder(root: string, hidden: Hidden, table: TreeTable, folder: number): boolean {
  const path = table.folders[folder]!;
  const prefix = `${root}/${toPrefix(path)}`;
  const names = listNames(prefix, hidden[path] ?? []);
  if (names === null || names.join("\0") !== table.names[folder]) return false;
  return names.every((name, i) => {
    const facts = lstatSync(prefix + name, { bigint: true, throwIfNoEntry: false });
    return facts !== undefined && digestOf(table, table.first[folder]! + i, facts) !== null;
  });
}

/** Mode bits, size, inode, number of names and last change of an entry. */
export function factsOf(table: TreeTable, at: number) {
  const s = table.stats;
  const k = at * WIDTH;
  return {
    mode: Number(s[k + MODE]!) & 0o7777,
    size: Number(s[k + SIZE]!),
    ino: s[k + INO]!,
    nlink: Number(s[k + NLINK]!),
    ctime: s[k + CTIME]!,
    mtime: s[k + MTIME]!,
  };
}
