import { randomBytes } from "node:crypto";
import { lstatSync } from "node:fs";
import { compareCodePoints } from "../../core/canonical/index.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import type { SyncCrypto } from "../../core/ports.ts";
import type { KeptTree, TreeDifferences, TreeLook, TreeMemory } from "../../rooms/catalytic/ports.ts";
import type { Entry } from "../../rooms/catalytic/tree.ts";
import { TEXT_NAMES, type TextName } from "../../rooms/catalytic/tree-texts.ts";
import { errnoCode } from "./errors.ts";
import { digestFile } from "./file-digest.ts";
import { scanFingerprints } from "./fingerprints.ts";
import { forgetKept, type KeptFile, type KeptFiles, type OpenedFile, openKept, writeKept } from "./kept-files.ts";
import { TreeChecker } from "./tree-check.ts";
import { openTreeFile, type TableSource, type TreeFile, writeTreeFile } from "./tree-file.ts";
import { snapshotPlace, toMode } from "./tree-snapshot.ts";
import {
  CTIME,
  DIGEST,
  entriesOf,
  factsOf,
  type Hidden,
  isSameFolder,
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
const NO_DIFFERENCES: TreeDifferences = { was: new Map(), is: new Map() };
/** git never writes its index in place, so that its inode tells what its age cannot. */
const REPLACED = ".git/index";

export interface TreeMemorySetting {
  /** Where the last look is kept; null keeps nothing. */
  readonly place: (root: string) => string | null;
  /** What answers about a tree depend on besides the tree, for example the settings of git. */
  readonly context: (root: string) => Promise<string>;
  readonly now: () => number;
  readonly crypto: SyncCrypto;
  /** Trees with fewer entries are compared without help. */
  readonly worthHelp?: number;
}

/** Looks at whole trees. A tree that did not change since the last look costs one `lstat` per path and nothing else. */
export function createTreeMemory(setting: TreeMemorySetting): TreeMemory {
  return {
    async look(root, options) {
      const checker = new TreeChecker(setting.worthHelp);
      const place = setting.place(root);
      let opened: TreeFile | null = null;
      try {
        const taken = setting.now();
        const file = place === null ? null : openTreeFile(place);
        opened = file;
        const context = setting.context(root);
        const hidden = toHidden(options.hidden);
        const usable = file !== null && file.root === root && sameHidden(file.hidden, hidden) ? file : null;
        const old = usable === null ? null : new KnownTable(usable);
        const changed = old === null ? null : await findChanged(checker, root, hidden, old);
        const isSameRoot = usable !== null && rootStat(root) === usable.top;
        const isSameTree = changed?.size === 0 && isSameRoot;
        const table = isSameTree ? old : takeTable(root, hidden, options.max_entries, old, changed);
        if (table !== old) file?.close();
        if (table === null) {
          checker.close();
          return null;
        }
        const isSame = isSameTree && usable?.context === (await context);
        return new Look(root, hidden, table, checker, {
          place,
          context: await context,
          kept: isSame ? usable!.kept : {},
          notes: isSame ? { ...usable?.notes } : {},
          taken,
          crypto: setting.crypto,
        });
      } catch (thrown) {
        checker.close();
        opened?.close();
        // A folder that cannot be listed, or that goes away meanwhile, is for the careful reading to name.
        if (errnoCode(thrown) !== null) return null;
        throw thrown;
      }
    },
  };
}

/** A table in memory, or one that is read from its file when somebody needs it. */
class KnownTable {
  readonly entries: number;
  /** The stat of the root itself, packed. */
  readonly top: string;
  /** The file that holds this table, if one does. */
  #file: TreeFile | null;
  #table: TreeTable | null;

  constructor(from: TreeFile | TreeTable) {
    const isFile = "load" in from;
    this.#file = isFile ? from : null;
    this.#table = isFile ? null : from;
    this.entries = isFile ? from.source.entries : from.stats.length / WIDTH;
    this.top = isFile ? from.top : packEntry(from, 0);
  }

  get source(): TableSource | null {
    return this.#file?.source ?? null;
  }

  get(): TreeTable {
    this.#table ??= this.#file!.load();
    return this.#table;
  }

  keepIn(file: TreeFile): void {
    this.#file?.close();
    this.#file = file;
  }

  close(): void {
    this.#file?.close();
  }
}

async function findChanged(
  checker: TreeChecker,
  root: string,
  hidden: Hidden,
  old: KnownTable,
): Promise<ReadonlySet<number>> {
  const changed = await compare(checker, root, hidden, old);
  const isTop = changed.size === 1 && changed.has(0);
  return isTop && isTouchedOnly(root, hidden, old.get(), GIT) ? new Set() : changed;
}

/** The folders that are not as the table says. */
async function compare(
  checker: TreeChecker,
  root: string,
  hidden: Hidden,
  known: KnownTable,
): Promise<ReadonlySet<number>> {
  const quick = known.source === null ? null : await checker.checkFile(root, hidden, known.source);
  return quick ?? checker.check(root, hidden, known.get());
}

function takeTable(
  root: string,
  hidden: Hidden,
  most: number,
  old: KnownTable | null,
  changed: ReadonlySet<number> | null,
): KnownTable | null {
  const table = readTable(root, hidden, most, old?.get() ?? null, (folder) => changed?.has(folder) === false);
  return table === null ? null : new KnownTable(table);
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
  readonly kept: Readonly<Record<string, KeptFiles>>;
  readonly notes: Record<string, string>;
  /** When the look began: what changed shortly before is not trusted later. */
  readonly taken: number;
  readonly crypto: SyncCrypto;
}

class Look implements TreeLook {
  readonly #root: string;
  readonly #hidden: Hidden;
  readonly #known: KnownTable;
  readonly #checker: TreeChecker;
  readonly #memory: Memory;
  readonly #opened: OpenedFile[] = [];
  #hasNews = false;

  constructor(root: string, hidden: Hidden, known: KnownTable, checker: TreeChecker, memory: Memory) {
    this.#root = root;
    this.#hidden = hidden;
    this.#known = known;
    this.#checker = checker;
    this.#memory = memory;
  }

  get entries(): number {
    return this.#known.entries;
  }

  recall(key: string): KeptTree | null {
    const { place, kept } = this.#memory;
    const one = Object.hasOwn(kept, key) ? kept[key] : undefined;
    return place === null || one === undefined ? null : this.#open(keptFolder(place), one);
  }

  note(name: string): string | null {
    return this.#memory.notes[name] ?? null;
  }

  setNote(name: string, text: string): void {
    this.#memory.notes[name] = text;
    this.#hasNews = true;
  }

  keep(key: string, tree: KeptTree): KeptTree {
    const { place, context, kept, notes, taken } = this.#memory;
    if (place === null || (Object.hasOwn(kept, key) && !this.#hasNews)) return tree;
    const table = this.#known.get();
    const digests = table.digests.slice();
    const limit = BigInt(taken) * 1_000_000n - RACY_NS;
    // Names and modes are compared as they are; only the content of a file can change behind its stat.
    const fresh = table.folders.flatMap((_, i) =>
      isYoung(table, i, limit) ? entriesOf(table, i).filter((entry) => isFresh(table, entry, limit)) : [],
    );
    for (const { at } of fresh) digests.fill(0, at * DIGEST, (at + 1) * DIGEST);
    // What is made of the whole tree is only as sure as its youngest file.
    const files = fresh.length > 0 ? null : this.#write(keptFolder(place), tree);
    const facts = {
      context,
      root: this.#root,
      hidden: this.#hidden,
      taken,
      top: packEntry(table, 0),
      kept: files === null ? {} : { [key]: files },
      notes: fresh.length > 0 ? {} : notes,
    };
    this.#known.keepIn(writeTreeFile(place, facts, { ...table, digests }));
    if (files === null) return tree;
    forgetKept(keptFolder(place), new Set(Object.values(files.texts).map(({ name }) => name)));
    return this.#open(keptFolder(place), files) ?? tree;
  }

  /** Writes the texts of a tree as files, except those that lie there already. */
  #write(folder: string, tree: KeptTree): KeptFiles {
    const { trees, manifests, inputs, files: _, ...facts } = tree;
    const texts: Record<string, KeptFile> = {};
    for (const [name, text] of Object.entries({ trees, manifests, inputs })) {
      const bytes = Buffer.from(`${text}\n`, "latin1");
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
    const text = (name: TextName) => Buffer.from(all[name].read()).toString("latin1").slice(0, -1);
    return {
      ...(facts as Pick<KeptTree, "state" | "ignored" | "head">),
      files: all,
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

  async read(
    isInView: (path: string) => boolean,
    onProgress: (files: number, bytes: number) => void,
  ): Promise<ReadonlyMap<string, Entry>> {
    const table = this.#known.get();
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
    const table = this.#known.get();
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
    const table = this.#known.get();
    const { size, ctime } = factsOf(table, at);
    const read = digestFile(place);
    if (read === null) {
      const options = { strict_mtime: false, max_entries: 1, lenient: true };
      const found = (await snapshotPlace(place, options)).entries.get(".");
      if (found !== undefined && found.type !== "other") return found;
    } else if (read.ctime === ctime && Number(read.size) === size) {
      table.digests.set(read.digest, at * DIGEST);
      return this.#toEntry(entry);
    }
    throw new VerbatimError("DOMAIN_CHANGED_DURING_SNAPSHOT", { where: path, details: { path } });
  }

  async again(): Promise<TreeDifferences> {
    const [root, hidden] = [this.#root, this.#hidden];
    const changed = await compare(this.#checker, root, hidden, this.#known);
    const isSameRoot = rootStat(root) === this.#known.top;
    if (changed.size === 0 && isSameRoot) return NO_DIFFERENCES;
    const table = this.#known.get();
    const isTop = changed.size === 1 && changed.has(0) && isSameRoot;
    if (isTop && isSameFolder(root, hidden, table, 0)) return NO_DIFFERENCES;
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
