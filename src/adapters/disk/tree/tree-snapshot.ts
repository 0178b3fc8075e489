import { createHash, hash } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  type Stats,
} from "node:fs";
import { compareCodePoints, decodeUtf8 } from "../../../core/canonical/index.ts";
import { type Code, VerbatimError } from "../../../core/errors/index.ts";
import { errnoCode } from "../../../core/errors/system.ts";
import type { Entry, OtherEntry, SnapshotOptions, SnapshotTaken } from "../../../rooms/catalytic/ports.ts";
import { listMountsBelow } from "../stat/mounts.ts";

const CHUNK = 1024 * 1024;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const TURN_MS = 25;
/** How often a file that does not stand still is read. */
const MOST_READS = 3;
/** What the system says about something that went away, or became something else. */
const GONE = ["ENOENT", "ENOTDIR", "ELOOP", "EINVAL", "ENXIO"];
const OWN_UID = process.getuid?.();
const OWN_GID = process.getgid?.();

/**
 * Reads a whole folder: every path, its mode, and the hash of every byte. One open per file, one buffer for all. The
 * event loop gets a turn every 25 ms. Nothing is skipped: what cannot be read is an error with its code.
 */
export async function snapshotTree(folder: string, options: SnapshotOptions): Promise<SnapshotTaken> {
  const walk = new Walk(folder, options);
  const steps = walk.run();
  let turn = performance.now();
  for (;;) {
    const step = steps.next();
    if (step.done === true) break;
    if (performance.now() - turn < TURN_MS) continue;
    options.onProgress?.(walk.files, walk.bytes);
    await new Promise((resolve) => setImmediate(resolve));
    turn = performance.now();
  }
  return walk.result();
}

/** The same for one file, link or folder that may be missing: null then. */
export async function snapshotPlace(place: string, options: SnapshotOptions): Promise<SnapshotTaken> {
  const facts = lstatSync(place, { throwIfNoEntry: false });
  if (facts === undefined) return { entries: new Map(), not_utf8: new Set(), bytes: 0, foreign: null };
  if (facts.isDirectory()) return snapshotTree(place, options);
  const walk = new Walk(place, options);
  walk.single(place, facts);
  return walk.result();
}

// For all walks: a file is read and hashed without a pause, and a buffer for each walk would keep the collector busy.
const buffer = Buffer.allocUnsafe(CHUNK);

class Walk {
  files = 0;
  bytes = 0;
  readonly #folder: string;
  readonly #options: SnapshotOptions;
  readonly #entries: [string, Entry | OtherEntry][] = [];
  readonly #notUtf8 = new Set<string>();
  readonly #links = new Map<string, string[]>();
  #device = 0;
  #foreign: string | null = null;
  #mounts: readonly string[] = [];

  constructor(folder: string, options: SnapshotOptions) {
    this.#folder = folder;
    this.#options = options;
  }

  *run(): Generator<void, void, void> {
    const facts = this.#lstatOrMissing();
    if (facts === undefined) return;
    if (!facts.isDirectory()) this.#fail("DOMAIN_CHANGED_DURING_SNAPSHOT", ".");
    this.#device = facts.dev;
    this.#mounts = this.#options.lenient === true ? [] : listMountsBelow(this.#folder);
    for (const mount of this.#mounts) this.#fail("DOMAIN_CONTAINS_MOUNT", mount.slice(this.#folder.length + 1));
    this.#add(".", this.#toFolderEntry(this.#folder, facts));
    const pending: string[] = [""];
    for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
      const prefix = folder === "" ? "" : `${folder}/`;
      for (const item of this.#list(folder)) {
        // The listing was asked for bytes, which the type of an entry does not say.
        const name = item.name as unknown as Buffer;
        const text = decodeName(name);
        if (text === null) {
          const shown = `${prefix}${escapeBytes(name)}`;
          if (this.#options.lenient !== true) this.#fail("NAME_NOT_UTF8", shown);
          this.#notUtf8.add(shown);
          this.#add(shown, { type: "other" });
          continue;
        }
        const path = prefix + text;
        if (this.#options.skip?.(path) === true) continue;
        if (this.#visit(path, item)) pending.push(path);
        yield;
      }
    }
  }

  single(place: string, facts: Stats): void {
    if (facts.isFile()) this.#add(".", this.#readFile(place, "."));
    else if (facts.isSymbolicLink()) this.#add(".", this.#readLink(place, "."));
    else this.#special(".");
  }

  result(): SnapshotTaken {
    for (const paths of this.#links.values()) {
      if (paths.length < 2) continue;
      const members = new Set(paths);
      const group = paths.reduce((a, b) => (compareCodePoints(a, b) < 0 ? a : b));
      for (const pair of this.#entries) {
        if (members.has(pair[0])) pair[1] = { ...(pair[1] as Entry), link_group: group } as Entry;
      }
    }
    this.#entries.sort(([a], [b]) => compareCodePoints(a, b));
    return { entries: new Map(this.#entries), not_utf8: this.#notUtf8, bytes: this.bytes, foreign: this.#foreign };
  }

  /** Adds what is at a path; true for a folder that must be walked. */
  #visit(path: string, item: Dirent): boolean {
    const place = `${this.#folder}/${path}`;
    if (item.isFile()) this.#add(path, this.#readFile(place, path));
    else if (item.isDirectory()) {
      const facts = this.#lstatFolder(place, path);
      if (facts === null) return false;
      if (facts.dev !== this.#device && this.#options.lenient !== true) this.#fail("DOMAIN_CONTAINS_MOUNT", path);
      this.#noteOwner(facts, path);
      this.#add(path, this.#toFolderEntry(place, facts));
      return true;
    } else if (item.isSymbolicLink()) this.#add(path, this.#readLink(place, path));
    else this.#special(path);
    return false;
  }

  /** Null where it is not a folder any more and that may be listed. */
  #lstatFolder(place: string, path: string): Stats | null {
    const { busy } = this.#options;
    const facts = busy === undefined ? this.#lstat(place, path) : lstatSync(place, { throwIfNoEntry: false });
    if (facts?.isDirectory() === true) return facts;
    if (busy === undefined) this.#fail("DOMAIN_CHANGED_DURING_SNAPSHOT", path);
    busy.push(path);
    return null;
  }

  #special(path: string): void {
    if (this.#options.lenient !== true) this.#fail("SPECIAL_FILE_IN_DOMAIN", path);
    this.#add(path, { type: "other" });
  }

  #list(folder: string): Dirent[] {
    const place = folder === "" ? this.#folder : `${this.#folder}/${folder}`;
    const read = () => readdirSync(place, { withFileTypes: true, encoding: "buffer" as "utf8" });
    return this.#withAccess(place, folder === "" ? "." : folder, 0o500, read, () => []);
  }

  #readFile(place: string, path: string): Entry | OtherEntry {
    const known = this.#options.knownHash?.(path);
    if (known !== undefined) return known;
    const fd = this.#withAccess(
      place,
      path,
      0o400,
      () => openSync(place, READ),
      () => -1,
    );
    if (fd === -1) return { type: "other" };
    try {
      let before = fstatSync(fd);
      if (!before.isFile()) this.#fail("DOMAIN_CHANGED_DURING_SNAPSHOT", path);
      let read = this.#readOpen(fd, before);
      for (let again = 1; again < this.#mostReads && !read.isSteady; again++) {
        before = fstatSync(fd);
        read = this.#readOpen(fd, before);
      }
      if (!read.isSteady) {
        if (this.#options.busy === undefined) this.#fail("DOMAIN_CHANGED_DURING_SNAPSHOT", path);
        this.#options.busy.push(path);
      }
      const { sha256, size } = read;
      this.#noteOwner(before, path);
      this.files++;
      this.bytes += size;
      if (before.nlink > 1) this.#noteLink(`${before.dev}:${before.ino}`, path);
      const entry: Entry = { type: "file", mode: toMode(before.mode), size, sha256 };
      return this.#options.strict_mtime
        ? { ...entry, mtime_ns: String(fstatSync(fd, { bigint: true }).mtimeNs) }
        : entry;
    } finally {
      closeSync(fd);
    }
  }

  /** A file that does not stand still is read again only where it may be listed. */
  get #mostReads(): number {
    return this.#options.busy === undefined ? 1 : MOST_READS;
  }

  /** The hash of an open file from its beginning, no further than its size, and whether it was the same all the time. */
  #readOpen(fd: number, before: Stats): { readonly sha256: string; readonly size: number; readonly isSteady: boolean } {
    const { sha256, total } = this.#hash(fd, before.size);
    const after = fstatSync(fd);
    const isSteady = total === before.size && after.size === before.size && after.mtimeMs === before.mtimeMs;
    return { sha256, size: total, isSteady };
  }

  #hash(fd: number, size: number): { readonly sha256: string; readonly total: number } {
    if (size <= CHUNK) {
      let got = 0;
      while (got < size) {
        const count = readSync(fd, buffer, got, size - got, got);
        if (count === 0) break;
        got += count;
      }
      return { sha256: hash("sha256", buffer.subarray(0, got), "hex"), total: got };
    }
    const running = createHash("sha256");
    let total = 0;
    while (total < size) {
      const count = readSync(fd, buffer, 0, Math.min(CHUNK, size - total), total);
      if (count === 0) break;
      total += count;
      running.update(buffer.subarray(0, count));
    }
    return { sha256: running.digest("hex"), total };
  }

  #readLink(place: string, path: string): Entry | OtherEntry {
    const target = this.#readTarget(place, path);
    if (target === null) {
      if (this.#options.lenient !== true) this.#fail("LINK_TARGET_NOT_UTF8", path);
      return { type: "other" };
    }
    const entry: Entry = { type: "symlink", target };
    if (!this.#options.strict_mtime) return entry;
    return { ...entry, mtime_ns: String(lstatSync(place, { bigint: true }).mtimeNs) };
  }

  #readTarget(place: string, path: string): string | null {
    try {
      return decodeName(readlinkSync(place, { encoding: "buffer" }));
    } catch (thrown) {
      if (this.#isGone(thrown, path)) return null;
      throw thrown;
    }
  }

  /** Whether something went away while it was looked at, where that may be listed instead of refused. */
  #isGone(thrown: unknown, path: string): boolean {
    const { busy } = this.#options;
    if (busy === undefined || !GONE.includes(errnoCode(thrown) ?? "")) return false;
    if (!busy.includes(path)) busy.push(path);
    return true;
  }

  #toFolderEntry(place: string, facts: Stats): Entry {
    const entry: Entry = { type: "dir", mode: toMode(facts.mode) };
    if (!this.#options.strict_mtime) return entry;
    return { ...entry, mtime_ns: String(lstatSync(place, { bigint: true }).mtimeNs) };
  }

  #noteOwner(facts: Stats, path: string): void {
    if (facts.uid !== OWN_UID || facts.gid !== OWN_GID) this.#foreign ??= path;
  }

  #noteLink(inode: string, path: string): void {
    const paths = this.#links.get(inode);
    if (paths === undefined) this.#links.set(inode, [path]);
    else paths.push(path);
  }

  #add(path: string, entry: Entry | OtherEntry): void {
    if (this.#entries.length >= this.#options.max_entries) this.#fail("DOMAIN_TOO_LARGE", path);
    this.#entries.push([path, entry]);
  }

  #lstatOrMissing(): Stats | undefined {
    try {
      return lstatSync(this.#folder, { throwIfNoEntry: false });
    } catch (thrown) {
      return this.#refuse(thrown, ".");
    }
  }

  #lstat(place: string, path: string): Stats {
    try {
      return lstatSync(place);
    } catch (thrown) {
      return this.#refuse(thrown, path);
    }
  }

  /** What the user owns but cannot read is made readable for the moment, announced before and undone at once. */
  #withAccess<T>(place: string, path: string, bits: number, read: () => T, gone: () => T): T {
    try {
      return read();
    } catch (thrown) {
      if (this.#options.lenient === true && errnoCode(thrown) === "ENAMETOOLONG") return gone();
      if (this.#isGone(thrown, path)) return gone();
      if (errnoCode(thrown) !== "EACCES") return this.#refuse(thrown, path);
      const facts = this.#lstat(place, path);
      if (facts.uid !== process.geteuid?.()) return this.#refuse(thrown, path);
      this.#options.onChmod?.(place, toMode(facts.mode));
      chmodSync(place, (facts.mode & 0o7777) | bits);
      try {
        return read();
      } finally {
        chmodSync(place, facts.mode & 0o7777);
      }
    }
  }

  #refuse(thrown: unknown, path: string): never {
    const code = errnoCode(thrown);
    if (code === "ELOOP" || code === "ENOENT" || code === "ENOTDIR" || code === "ENXIO") {
      this.#fail("DOMAIN_CHANGED_DURING_SNAPSHOT", path, thrown);
    }
    return this.#fail("DOMAIN_UNREADABLE", path, thrown);
  }

  #fail(code: Code, path: string, cause?: unknown): never {
    throw new VerbatimError(code, { where: path, details: { path, folder: this.#folder }, cause });
  }
}

const isAscii = (bytes: Buffer) => bytes.every((byte) => byte < 0x80);

/** A name as text, or null when it is not UTF-8. */
function decodeName(bytes: Buffer): string | null {
  return isAscii(bytes) ? bytes.toString("latin1") : decodeUtf8(bytes);
}

/** A name that is not UTF-8 as it may be shown: `\xHH` for each byte that is not printable ASCII. */
export function escapeBytes(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; ) {
    const length = [1, 2, 3, 4].find((n) => i + n <= bytes.length && decodeUtf8(bytes.subarray(i, i + n)) !== null);
    text +=
      length === undefined
        ? `\\x${bytes[i]!.toString(16).padStart(2, "0")}`
        : decodeUtf8(bytes.subarray(i, i + length))!;
    i += length ?? 1;
  }
  return text;
}

/** `st_mode & 07777` as four octal digits. */
export function toMode(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, "0");
}
