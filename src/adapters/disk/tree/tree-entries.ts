import { createHash, hash } from "node:crypto";
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { compareCodePoints } from "../../../core/canonical/index.ts";
import { errnoCode } from "../../../core/errors/system.ts";
import type { Entry } from "../../../rooms/catalytic/ports.ts";
import { snapshotPlace, toMode } from "./tree-snapshot.ts";
import { countFiles, DIGEST, entriesOf, factsOf, type TableEntry, type TreeTable } from "./tree-table.ts";

const TURN_MS = 25;
/** How often a file that does not stand still is read. */
const MOST_READS = 3;

/**
 * The entries of a table as a snapshot has them. Only files whose hash the table does not know are read, and what they
 * hold is put into it. Others get their turn in between. Paths that did not stand still are added to `busy`.
 */
export async function readEntries(
  root: string,
  table: TreeTable,
  isInView: (path: string) => boolean,
  onProgress: (files: number, bytes: number) => void,
  busy: string[],
): Promise<ReadonlyMap<string, Entry>> {
  const found: [string, Entry][] = [[".", { type: "dir", mode: toMode(factsOf(table, 0).mode) }]];
  const twins = new Map<bigint, number[]>();
  const closed = new Set<string>();
  let [bytes, seen, turn] = [0, 0, performance.now()];
  for (const [i, folder] of table.folders.entries()) {
    seen += countFiles(table, i);
    if (folder !== "" && isClosed(folder, closed)) continue;
    for (const entry of entriesOf(table, i)) {
      if (!isInView(entry.path)) {
        if (entry.type === "dir") closed.add(entry.path);
        continue;
      }
      const made = toEntry(table, entry) ?? (await readEntry(root, table, entry, busy));
      if (made === null) continue;
      if (made.type === "file") {
        bytes += made.size;
        const { ino, nlink } = factsOf(table, entry.at);
        if (nlink > 1) (twins.get(ino) ?? twins.set(ino, []).get(ino)!).push(found.length);
      }
      found.push([entry.path, made]);
    }
    if (performance.now() - turn < TURN_MS) continue;
    onProgress(seen, bytes);
    await new Promise((resolve) => setImmediate(resolve));
    turn = performance.now();
  }
  for (const group of twins.values()) nameGroup(found, group);
  return new Map(found.sort(([a], [b]) => compareCodePoints(a, b)));
}

/** What a table has at some paths, read in the same way; null for nothing. Names that share a file are not told. */
export async function readEntriesAt(
  root: string,
  table: TreeTable,
  paths: readonly string[],
  busy: string[],
): Promise<ReadonlyMap<string, Entry | null>> {
  const found = new Map<string, Entry | null>(paths.map((path) => [path, null]));
  if (found.has(".")) found.set(".", { type: "dir", mode: toMode(factsOf(table, 0).mode) });
  const folders = new Set(paths.map((path) => path.slice(0, Math.max(0, path.lastIndexOf("/")))));
  for (const [i, folder] of table.folders.entries()) {
    if (!folders.has(folder)) continue;
    for (const entry of entriesOf(table, i)) {
      if (!found.has(entry.path)) continue;
      found.set(entry.path, toEntry(table, entry) ?? (await readEntry(root, table, entry, busy)));
    }
  }
  return found;
}

/** The entry, if it can be made without reading the file. */
function toEntry(table: TreeTable, { at, type }: TableEntry): Entry | null {
  const { mode, size } = factsOf(table, at);
  if (type === "dir") return { type, mode: toMode(mode) };
  if (type === "symlink") return toLink(table.targets.get(at) ?? "");
  if (type === "other") return null;
  const digest = table.digests.subarray(at * DIGEST, (at + 1) * DIGEST);
  if (digest.every((byte) => byte === 0)) return null;
  return { type, mode: toMode(mode), size, sha256: Buffer.from(digest).toString("hex") };
}

/**
 * Reads a file whose hash is not known. One that does not stand still is read again; in the end its last reading counts,
 * and it is listed. What can only be read with care, or not at all, gets its code there.
 */
async function readEntry(root: string, table: TreeTable, entry: TableEntry, busy: string[]): Promise<Entry | null> {
  const { at, path, type } = entry;
  if (type !== "file") return null;
  const place = `${root}/${path}`;
  const { size, ctime } = factsOf(table, at);
  let read = digestFile(place);
  for (let again = 1; again < MOST_READS && read?.isSteady === false; again++) read = digestFile(place);
  if (read === null) return readCarefully(place, path, busy);
  if (read.isSteady && read.ctime === ctime && read.size === size) {
    table.digests.set(read.digest, at * DIGEST);
    return toEntry(table, entry);
  }
  // What the table says of it is older than what was read, so the table does not get the hash.
  if (!read.isSteady) busy.push(path);
  return { type, mode: toMode(read.mode), size: read.size, sha256: Buffer.from(read.digest).toString("hex") };
}

/** What may not be read as it is, or is not a file any more. */
async function readCarefully(place: string, path: string, busy: string[]): Promise<Entry | null> {
  if (lstatSync(place, { throwIfNoEntry: false })?.isDirectory() !== true) {
    const options = { strict_mtime: false, max_entries: 1, lenient: true, busy };
    const found = (await snapshotPlace(place, options)).entries.get(".");
    if (found !== undefined && found.type !== "other") return found;
  }
  busy.push(path);
  return null;
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

const CHUNK = 1024 * 1024;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const buffer = Buffer.allocUnsafe(CHUNK);

interface FileDigest {
  readonly digest: Uint8Array;
  /** How much was read. */
  readonly size: number;
  readonly mode: number;
  readonly ctime: bigint;
  /** Whether it was the same before and after it was read. */
  readonly isSteady: boolean;
}

/**
 * SHA-256 of one regular file. Null when it is something else by now, or may not be read. One open, one buffer for all; of
 * a file that grows faster than it is read no more than it had at first.
 */
function digestFile(place: string): FileDigest | null {
  let fd: number;
  try {
    fd = openSync(place, READ);
  } catch (thrown) {
    if (["EACCES", "ENOENT", "ENOTDIR", "ELOOP", "ENXIO"].includes(errnoCode(thrown) ?? "")) return null;
    throw thrown;
  }
  try {
    const before = fstatSync(fd, { bigint: true });
    if (!before.isFile()) return null;
    const { digest, total } = digestOpen(fd, Number(before.size));
    const { size, mode, mtimeNs, ctimeNs: ctime } = fstatSync(fd, { bigint: true });
    const isSteady = BigInt(total) === size && before.mtimeNs === mtimeNs && before.ctimeNs === ctime;
    return { digest, size: total, mode: Number(mode), ctime, isSteady };
  } finally {
    closeSync(fd);
  }
}

function digestOpen(fd: number, most: number): { readonly digest: Uint8Array; readonly total: number } {
  let got = readSync(fd, buffer, 0, CHUNK, null);
  if (got < CHUNK) {
    // The next reading says whether that was all.
    const more = readSync(fd, buffer, got, CHUNK - got, null);
    if (more === 0) return { digest: hash("sha256", buffer.subarray(0, got), "buffer"), total: got };
    got += more;
  }
  const running = createHash("sha256");
  let total = 0;
  for (; got > 0 && total <= most; got = readSync(fd, buffer, 0, CHUNK, null)) {
    running.update(buffer.subarray(0, got));
    total += got;
  }
  return { digest: running.digest(), total };
}
