import { lstatSync } from "node:fs";
import { compareCodePoints } from "../../core/canonical/index.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import type { KeptTree, TreeDifferences, TreeLook, TreeMemory } from "../../rooms/catalytic/ports.ts";
import type { Entry } from "../../rooms/catalytic/tree.ts";
import { errnoCode } from "./errors.ts";
import { digestFile } from "./file-digest.ts";
import { scanFingerprints } from "./fingerprints.ts";
import { TreeChecker } from "./tree-check.ts";
import { readTreeFile, type TreeFile, writeTreeFile } from "./tree-file.ts";
import { snapshotPlace, toMode } from "./tree-snapshot.ts";
import {
  CTIME,
  DIGEST,
  entriesOf,
  factsOf,
  type Hidden,
  isTouchedOnly,
  packEntry,
  readTable,
  type TableEntry,
  type TreeTable,
  WIDTH,
} from "./tree-table.ts";

/** A file this young may change again without its stat showing it. */
const RACY_NS = 2_000_000_000n;
const TURN_MS = 25;
const GIT = ".git";
/** git never writes its index in place, so that its inode tells what its age cannot. */
const REPLACED = ".git/index";

export interface TreeMemorySetting {
  /** Where the last look is kept; null keeps nothing. */
  readonly place: (root: string) => string | null;
  /** What answers about a tree depend on besides the tree, for example the settings of git. */
  readonly context: (root: string) => Promise<string>;
  readonly now: () => number;
}

/** Looks at whole trees. A tree that did not change since the last look costs one `lstat` per path and nothing else. */
export function createTreeMemory(setting: TreeMemorySetting): TreeMemory {
  return {
    async look(root, options) {
      const checker = new TreeChecker();
      const place = setting.place(root);
      try {
        const file = place === null ? null : readTreeFile(place);
        if (file !== null) checker.warm();
        const context = setting.context(root);
        const hidden = toHidden(options.hidden);
        const usable = file !== null && file.root === root && sameHidden(file.hidden, hidden) ? file : null;
        const changed = usable === null ? null : await findChanged(checker, root, hidden, usable.table);
        const isSameRoot = usable !== null && rootStat(root) === packEntry(usable.table, 0);
        const table = takeTable(root, hidden, options.max_entries, usable, changed, isSameRoot);
        if (table === null) {
          checker.close();
          return null;
        }
        const isSame = changed?.size === 0 && isSameRoot && usable?.context === (await context);
        return new Look(root, hidden, table, checker, {
          place,
          context: await context,
          kept: new Map(isSame ? usable?.kept : []),
          notes: isSame ? { ...usable?.notes } : {},
          isSame,
          limit: BigInt(setting.now()) * 1_000_000n - RACY_NS,
        });
      } catch (thrown) {
        checker.close();
        // A folder that cannot be listed, or that goes away meanwhile, is for the careful reading to name.
        if (errnoCode(thrown) !== null) return null;
        throw thrown;
      }
    },
  };
}

async function findChanged(
  checker: TreeChecker,
  root: string,
  hidden: Hidden,
  table: TreeTable,
): Promise<ReadonlySet<number>> {
  const changed = await checker.check(root, hidden, table);
  const isTop = changed.size === 1 && changed.has(0);
  return isTop && isTouchedOnly(root, hidden, table, GIT) ? new Set() : changed;
}

function takeTable(
  root: string,
  hidden: Hidden,
  most: number,
  file: TreeFile | null,
  changed: ReadonlySet<number> | null,
  isSameRoot: boolean,
): TreeTable | null {
  if (file !== null && changed?.size === 0 && isSameRoot) return file.table;
  return readTable(root, hidden, most, file?.table ?? null, (folder) => changed?.has(folder) === false);
}

function toHidden(paths: readonly string[]): Hidden {
  const hidden: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  for (const path of paths) {
    const slash = path.lastIndexOf("/");
    (hidden[slash === -1 ? "" : path.slice(0, slash)] ??= []).push(path.slice(slash + 1));
  }
  return hidden;
}

function sameHidden(a: Hidden, b: Hidden): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function rootStat(root: string): string {
  const facts = lstatSync(root, { bigint: true });
  const { ino, mode, nlink, uid, gid, size, mtimeNs, ctimeNs } = facts;
  const stats = BigInt64Array.of(ino, mode, nlink, uid, gid, size, mtimeNs, ctimeNs);
  return packEntry({ stats, targets: new Map() } as unknown as TreeTable, 0);
}

interface Memory {
  readonly place: string | null;
  readonly context: string;
  readonly kept: Map<string, KeptTree>;
  readonly notes: Record<string, string>;
  readonly isSame: boolean;
  /** Files changed after this moment are not trusted later. */
  readonly limit: bigint;
}

class Look implements TreeLook {
  readonly #root: string;
  readonly #hidden: Hidden;
  readonly #table: TreeTable;
  readonly #checker: TreeChecker;
  readonly #memory: Memory;
  #hasNews = false;

  constructor(root: string, hidden: Hidden, table: TreeTable, checker: TreeChecker, memory: Memory) {
    this.#root = root;
    this.#hidden = hidden;
    this.#table = table;
    this.#checker = checker;
    this.#memory = memory;
  }

  get entries(): number {
    return this.#table.stats.length / WIDTH;
  }

  recall(key: string): KeptTree | null {
    return this.#memory.kept.get(key) ?? null;
  }

  note(name: string): string | null {
    return this.#memory.notes[name] ?? null;
  }

  setNote(name: string, text: string): void {
    this.#memory.notes[name] = text;
    this.#hasNews = true;
  }

  keep(key: string, kept: KeptTree): void {
    const { place, context, notes, limit } = this.#memory;
    if (place === null || (this.#memory.kept.has(key) && !this.#hasNews)) return;
    const table = this.#table;
    const digests = table.digests.slice();
    // Names and modes are compared as they are; only the content of a file can change behind its stat.
    const fresh = table.folders.flatMap((_, i) =>
      isYoung(table, i, limit) ? entriesOf(table, i).filter((entry) => isFresh(table, entry, limit)) : [],
    );
    for (const { at } of fresh) digests.fill(0, at * DIGEST, (at + 1) * DIGEST);
    // What is made of the whole tree is only as sure as its youngest file.
    const trees = fresh.length > 0 ? new Map<string, KeptTree>() : new Map([[key, kept]]);
    writeTreeFile(place, {
      context,
      root: this.#root,
      hidden: this.#hidden,
      table: { ...table, digests },
      kept: trees,
      notes: fresh.length > 0 ? {} : notes,
    });
  }

  async read(
    isInView: (path: string) => boolean,
    onProgress: (files: number, bytes: number) => void,
  ): Promise<ReadonlyMap<string, Entry>> {
    const table = this.#table;
    const found: [string, Entry][] = [[".", { type: "dir", mode: toMode(factsOf(table, 0).mode) }]];
    const twins = new Map<bigint, number[]>();
    const closed = new Set<string>();
    let [bytes, turn] = [0, performance.now()];
    for (const [i, folder] of table.folders.entries()) {
      if (folder !== "" && isClosed(folder, closed)) continue;
      for (const entry of entriesOf(table, i)) {
        if (!isInView(entry.path)) {
          if (entry.type === "dir") closed.add(entry.path);
          continue;
        }
        const made = this.#toEntry(entry) ?? (await this.#readEntry(entry));
        if (made === null) continue;
        if (made.type === "file") {
          bytes += made.size;
          const { ino, nlink } = factsOf(table, entry.at);
          if (nlink > 1) (twins.get(ino) ?? twins.set(ino, []).get(ino)!).push(found.length);
        }
        found.push([entry.path, made]);
      }
      if (performance.now() - turn < TURN_MS) continue;
      onProgress(found.length, bytes);
      await new Promise((resolve) => setImmediate(resolve));
      turn = performance.now();
    }
    for (const group of twins.values()) nameGroup(found, group);
    return new Map(found.sort(([a], [b]) => compareCodePoints(a, b)));
  }

  /** The entry, if it can be made without reading the file. */
  #toEntry({ at, type }: TableEntry): Entry | null {
    const table = this.#table;
    const { mode, size } = factsOf(table, at);
    if (type === "dir") return { type, mode: toMode(mode) };
    if (type === "symlink") return toLink(table.targets.get(at) ?? "");
    if (type === "other") return null;
    const digest = table.digests.subarray(at * DIGEST, (at + 1) * DIGEST);
    if (digest.every((byte) => byte === 0)) return null;
    return { type, mode: toMode(mode), size, sha256: Buffer.from(digest).toString("hex") };
  }

  /** Reads a file whose hash is not known. What can only be read with care, or not at all, gets its code there. */
  async #readEntry(entry: TableEntry): Promise<Entry | null> {
    const { at, path, type } = entry;
    if (type !== "file") return null;
    const place = `${this.#root}/${path}`;
    const { size, ctime } = factsOf(this.#table, at);
    const read = digestFile(place);
    if (read === null) {
      const options = { strict_mtime: false, max_entries: 1, lenient: true };
      const found = (await snapshotPlace(place, options)).entries.get(".");
      if (found !== undefined && found.type !== "other") return found;
    } else if (read.ctime === ctime && Number(read.size) === size) {
      this.#table.digests.set(read.digest, at * DIGEST);
      return this.#toEntry(entry);
    }
    throw new VerbatimError("DOMAIN_CHANGED_DURING_SNAPSHOT", { where: path, details: { path } });
  }

  async again(): Promise<TreeDifferences> {
    const changed = await this.#checker.check(this.#root, this.#hidden, this.#table);
    const isSame = (folder: number) => !changed.has(folder);
    if (changed.size === 0 && rootStat(this.#root) === packEntry(this.#table, 0))
      return { was: new Map(), is: new Map() };
    const now = orNull(() => readTable(this.#root, this.#hidden, Number.MAX_SAFE_INTEGER, this.#table, isSame));
    return now === null ? this.#scanAgain() : differ(this.#table, now, changed);
  }

  /** A tree that a table cannot hold any more, told by the scan that can show everything. */
  async #scanAgain(): Promise<TreeDifferences> {
    const table = this.#table;
    const was = new Map([[".", packEntry(table, 0)]]);
    for (const i of table.folders.keys())
      for (const { path, at } of entriesOf(table, i)) was.set(path, packEntry(table, at));
    const skip = (path: string) => {
      const slash = path.lastIndexOf("/");
      return this.#hidden[slash === -1 ? "" : path.slice(0, slash)]?.includes(path.slice(slash + 1)) === true;
    };
    const scan = await scanFingerprints(this.#root, { from: [""], skip, max_entries: Number.MAX_SAFE_INTEGER });
    return dropSame(was, new Map(scan.packed));
  }

  close(): void {
    this.#checker.close();
  }
}

/** Null for what the system refuses, such as a folder that may not be listed. */
function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch (thrown) {
    if (errnoCode(thrown) !== null) return null;
    throw thrown;
  }
}

function isYoung(table: TreeTable, folder: number, limit: bigint): boolean {
  const stats = table.stats.subarray(table.first[folder]! * WIDTH, table.first[folder + 1]! * WIDTH);
  for (let k = CTIME; k < stats.length; k += WIDTH) if (stats[k]! > limit) return true;
  return false;
}

function isFresh(table: TreeTable, { at, path, type }: TableEntry, limit: bigint): boolean {
  return type === "file" && path !== REPLACED && factsOf(table, at).ctime > limit;
}

function isClosed(folder: string, closed: ReadonlySet<string>): boolean {
  if (closed.size === 0) return false;
  for (let end = folder.length; end > 0; end = folder.lastIndexOf("/", end - 1)) {
    if (closed.has(folder.slice(0, end))) return true;
  }
  return false;
}

/** A target that is not UTF-8 cannot be written down; the entry is left out as a special file is. */
function toLink(target: string): Entry | null {
  return target.includes("\ufffd") ? null : { type: "symlink", target };
}

/** Names that share a file carry the first of them by bytes. */
function nameGroup(found: [string, Entry][], group: readonly number[]): void {
  if (group.length < 2) return;
  const first = group.map((i) => found[i]![0]).reduce((a, b) => (compareCodePoints(a, b) < 0 ? a : b));
  for (const i of group) found[i]![1] = { ...found[i]![1], link_group: first } as Entry;
}

/** What differs between two tables: only folders that changed, came or went are compared. */
function differ(before: TreeTable, after: TreeTable, changed: ReadonlySet<number>): TreeDifferences {
  const [was, is] = [new Map<string, string>(), new Map<string, string>()];
  const now = new Map(after.folders.map((path, i) => [path, i]));
  const then = new Set(before.folders);
  for (const [i, folder] of before.folders.entries()) {
    if (!changed.has(i) && now.has(folder)) continue;
    for (const { path, at } of entriesOf(before, i)) was.set(path, packEntry(before, at));
    const k = now.get(folder);
    if (k !== undefined) for (const { path, at } of entriesOf(after, k)) is.set(path, packEntry(after, at));
  }
  for (const [i, folder] of after.folders.entries()) {
    if (!then.has(folder)) for (const { path, at } of entriesOf(after, i)) is.set(path, packEntry(after, at));
  }
  was.set(".", packEntry(before, 0));
  is.set(".", packEntry(after, 0));
  return dropSame(was, is);
}

function dropSame(was: Map<string, string>, is: Map<string, string>): TreeDifferences {
  for (const [path, packed] of was) {
    if (is.get(path) !== packed) continue;
    was.delete(path);
    is.delete(path);
  }
  return { was, is };
}
