import { randomBytes } from "node:crypto";
import { errnoCode } from "../../../core/errors/system.ts";
import type { SyncCrypto } from "../../../core/ports.ts";
import type {
  ChangedPath,
  Entry,
  KeptTree,
  TreeBefore,
  TreeDifferences,
  TreeScan,
} from "../../../rooms/catalytic/ports.ts";
import {
  forgetKept,
  type KeptFile,
  type KeptFiles,
  type OpenedFile,
  openKept,
  writeKept,
} from "../durable/kept-files.ts";
import { scanFingerprints } from "../stat/fingerprints.ts";
import { compare, type KnownTable, rootStat } from "./known-table.ts";
import type { TreeChecker } from "./tree-check.ts";
import { readEntries, readEntriesAt } from "./tree-entries.ts";
import { writeTreeFile } from "./tree-file.ts";
import { fingerprintPaths } from "./tree-fingerprint.ts";
import {
  CTIME,
  DIGEST,
  entriesOf,
  factsOf,
  type Hidden,
  isSameFolder,
  packEntry,
  readTable,
  type TableEntry,
  type TreeTable,
  WIDTH,
} from "./tree-table.ts";

const GIT = ".git";
/** A file this young may change again without its stat showing it. */
const RACY_NS = 2_000_000_000n;

type TextName = Exclude<keyof NonNullable<KeptTree["files"]>, "index">;
const TEXT_NAMES: readonly TextName[] = ["trees", "manifests", "inputs"];
/** Where more has changed, everything is made anew. */
const MOST_CHANGED = 5_000;
/** git never writes its index in place, so that its inode tells what its age cannot. */
const REPLACED = ".git/index";
/** Nothing of them is read here, and their names say what they hold. */
const OBJECT = /^\.git\/objects\/(?:[0-9a-f]{2}|pack)\//;

/** The last look, where this one differs from it. */
interface Before {
  readonly kept: Readonly<Record<string, KeptFiles>>;
  readonly unsure: readonly string[];
  readonly table: () => TreeTable;
  /** The folders that differ. */
  readonly changed: ReadonlySet<number>;
}

/** What a look knows from the last one. */
interface Memory {
  readonly place: string | null;
  readonly context: string;
  readonly kept: Readonly<Record<string, KeptFiles>>;
  readonly notes: Record<string, string>;
  /** What was made of the tree before it changed. */
  readonly before: Before | null;
  /** The last look, whatever was made of it. */
  readonly last: Pick<Before, "table" | "changed"> | null;
  /** When the look began: what changed shortly before is not trusted later. */
  readonly taken: number;
  /** Whether the table is another than the one that is kept. */
  readonly isNew: boolean;
  readonly crypto: SyncCrypto;
}

/** The stat of everything below a root at one moment, and what was kept of it. */
export class Look implements TreeScan {
  readonly #root: string;
  readonly #hidden: Hidden;
  readonly #known: KnownTable;
  readonly #checker: TreeChecker;
  readonly #memory: Memory;
  readonly #opened: OpenedFile[] = [];
  /** Files that hold what was recalled, which need not be written again. */
  readonly #recalled = new Map<string, KeptFiles>();
  readonly #before = new Map<string, KeptFiles>();
  #hasNews: boolean;
  #busy: string[] = [];

  constructor(root: string, hidden: Hidden, known: KnownTable, checker: TreeChecker, memory: Memory) {
    this.#root = root;
    this.#hidden = hidden;
    this.#known = known;
    this.#checker = checker;
    this.#memory = memory;
    this.#hasNews = memory.isNew;
  }

  get entries(): number {
    return this.#known.entries;
  }

  get files(): number {
    return this.#known.files;
  }

  get changed(): number | null {
    const { last } = this.#memory;
    if (last === null || last.changed.size === 0) return last === null ? null : 0;
    const { was, is } = differ(last.table(), this.#known.get(), last.changed);
    const paths = new Set([...was.keys(), ...is.keys()]);
    const isFile = (path: string) => [was.get(path), is.get(path)].some((side) => side?.startsWith("dir|") === false);
    return [...paths].filter((path) => path.split("/", 1)[0] !== GIT && isFile(path)).length;
  }

  get busy(): readonly string[] {
    return this.#busy;
  }

  recall(key: string): KeptTree | null {
    const { place, kept } = this.#memory;
    const one = Object.hasOwn(kept, key) ? kept[key] : undefined;
    const opened = place === null || one === undefined ? null : this.#open(keptFolder(place), one);
    // What was lost is made and kept again.
    if (opened === null) this.#hasNews = true;
    else this.#recalled.set(key, one!);
    return opened;
  }

  recallBefore(key: string): TreeBefore | null {
    const { place, before } = this.#memory;
    const one = before !== null && Object.hasOwn(before.kept, key) ? before.kept[key] : undefined;
    if (place === null || before === null || one === undefined) return null;
    const changed = listChanged(before, this.#known.get());
    const kept = changed === null ? null : this.#open(keptFolder(place), one);
    if (changed === null || kept?.files?.index === undefined) return null;
    this.#before.set(key, one);
    return { kept, changed };
  }

  readSome(paths: readonly string[]): Promise<ReadonlyMap<string, Entry | null>> {
    this.#busy = [];
    return readEntriesAt(this.#root, this.#known.get(), paths, this.#busy);
  }

  note(name: string): string | null {
    return this.#memory.notes[name] ?? null;
  }

  setNote(name: string, text: string): void {
    if (this.#memory.notes[name] === text) return;
    this.#memory.notes[name] = text;
    this.#hasNews = true;
  }

  keep(key: string, tree: KeptTree): KeptTree {
    const { place } = this.#memory;
    if (place === null || (this.#recalled.has(key) && !this.#hasNews)) return tree;
    // It is a cache: a disk that cannot take it costs time, and the run goes on.
    return orNull(() => this.#keepAt(place, key, tree)) ?? tree;
  }

  #keepAt(place: string, key: string, tree: KeptTree): KeptTree {
    const { context, notes, taken } = this.#memory;
    const table = this.#known.get();
    const digests = table.digests.slice();
    const limit = BigInt(taken) * 1_000_000n - RACY_NS;
    // Names and modes are compared as they are; only the content of a file can change behind its stat.
    const fresh = table.folders.flatMap((_, i) =>
      isYoung(table, i, limit) ? entriesOf(table, i).filter((entry) => isFresh(table, entry, limit)) : [],
    );
    for (const { at } of fresh) digests.fill(0, at * DIGEST, (at + 1) * DIGEST);
    const files = this.#filesOf(
      place,
      key,
      tree,
      fresh.some(({ at }) => factsOf(table, at).nlink > 1),
    );
    const facts = {
      context,
      root: this.#root,
      hidden: this.#hidden,
      taken,
      top: packEntry(table, 0),
      kept: files === null ? {} : { [key]: files },
      // What is made of the whole tree is only as sure as its youngest file.
      unsure: fresh.map(({ path }) => path),
      notes: fresh.length > 0 ? {} : notes,
    };
    this.#known.keepIn(writeTreeFile(place, facts, { ...table, digests }));
    if (files === null) return tree;
    forgetKept(keptFolder(place), new Set(Object.values(files.texts).map(({ name }) => name)));
    return tree.files === undefined ? (this.#open(keptFolder(place), files) ?? tree) : tree;
  }

  /**
   * The files of a tree: what was not made again lies in those it has. None where names share a file that is too fresh:
   * they say so of each other, and nobody can tell later from one of them.
   */
  #filesOf(place: string, key: string, tree: KeptTree, isShared: boolean): KeptFiles | null {
    const { state, ignored, files } = tree;
    const recalled = this.#recalled.get(key) ?? (files === undefined ? undefined : this.#before.get(key));
    if (isShared) return null;
    return recalled === undefined
      ? this.#write(keptFolder(place), tree)
      : { texts: recalled.texts, facts: { state, ignored } };
  }

  /** Writes the texts of a tree as files. */
  #write(folder: string, tree: KeptTree): KeptFiles {
    const { state, ignored, bytes: made } = tree;
    const facts = { state, ignored };
    const texts: Record<string, KeptFile> = {};
    const all = made ?? Object.fromEntries(TEXT_NAMES.map((name) => [name, Buffer.from(`${tree[name]}\n`, "latin1")]));
    for (const [name, bytes] of Object.entries(all)) {
      const label = `${name}-${randomBytes(8).toString("hex")}`;
      texts[name] = writeKept(folder, label, bytes, this.#memory.crypto.sha256(bytes));
    }
    return { texts, facts };
  }

  #open(folder: string, { texts, facts }: KeptFiles): KeptTree | null {
    const files: Partial<Record<TextName, OpenedFile>> = {};
    for (const name of TEXT_NAMES) {
      const kept = texts[name];
      const opened = kept === undefined ? null : openKept(folder, kept);
      if (opened === null) return null;
      this.#opened.push(opened);
      files[name] = opened;
    }
    const all = files as Record<TextName, OpenedFile>;
    const index = texts["index"] === undefined ? null : openKept(folder, texts["index"]);
    if (index !== null) this.#opened.push(index);
    const text = (name: TextName) => Buffer.from(all[name].read()).toString("latin1").slice(0, -1);
    return {
      ...(facts as Pick<KeptTree, "state" | "ignored">),
      files: index === null ? all : { ...all, index },
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

  fingerprint(paths: readonly string[]): ReadonlyMap<string, string> {
    return fingerprintPaths(this.#known.get(), paths);
  }

  async read(
    isInView: (path: string) => boolean,
    onProgress: (files: number, bytes: number) => void,
  ): Promise<ReadonlyMap<string, Entry>> {
    this.#busy = [];
    return readEntries(this.#root, this.#known.get(), isInView, onProgress, this.#busy);
  }

  async again(): Promise<TreeDifferences> {
    const [root, hidden] = [this.#root, this.#hidden];
    const changed = await compare(this.#checker, root, hidden, this.#known);
    const isSameRoot = rootStat(root) === this.#known.top;
    if (changed.size === 0 && isSameRoot) return NO_DIFFERENCES;
    const isTop = changed.size === 1 && changed.has(0) && isSameRoot;
    if (isTop && isSameFolder(root, hidden, this.#known.getTop(), 0)) return NO_DIFFERENCES;
    const table = this.#known.get();
    const isSame = (folder: number) => !changed.has(folder);
    const now = orNull(() => readTable(root, hidden, Number.MAX_SAFE_INTEGER, table, isSame));
    return now === null ? this.#scanAgain(table) : differ(table, now, changed);
  }

  /** A tree that a table cannot hold any more, told by the scan that can show everything. */
  async #scanAgain(table: TreeTable): Promise<TreeDifferences> {
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
    for (const file of this.#opened) file.close();
    this.#known.close();
    this.#checker.close();
  }
}

function keptFolder(place: string): string {
  return `${place}.kept`;
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
  return type === "file" && factsOf(table, at).ctime > limit && path !== REPLACED && !OBJECT.test(path);
}

const NO_DIFFERENCES: TreeDifferences = { was: new Map(), is: new Map() };

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

/** Every path that may be another than in the last look, or null when that cannot be told path by path. */
function listChanged({ unsure, table, changed }: Before, now: TreeTable): ReadonlyMap<string, ChangedPath> | null {
  const { was, is } = changed.size === 0 ? NO_DIFFERENCES : differ(table(), now, changed);
  const paths = new Set([...was.keys(), ...is.keys(), ...unsure]);
  if (paths.size > MOST_CHANGED) return null;
  const found = new Map<string, ChangedPath>();
  for (const path of paths) {
    const sides = [was.get(path), is.get(path)].map((packed) => packed?.split("|"));
    // Names that share a file say so of each other.
    if (sides.some((side) => side?.[0] === "file" && side[8] !== "1")) return null;
    const [before, after] = sides.map((side) => (side?.[0] ?? null) as ChangedPath["is"]);
    const isSame = before === null && after === null;
    found.set(path, isSame ? { was: "file", is: "file" } : { was: before!, is: after! });
  }
  return found;
}

/** Leaves only the paths that differ. */
function dropSame(was: Map<string, string>, is: Map<string, string>): TreeDifferences {
  for (const [path, packed] of was) {
    if (is.get(path) !== packed) continue;
    was.delete(path);
    is.delete(path);
  }
  return { was, is };
}
