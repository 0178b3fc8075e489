import { compareCodePoints, decodeUtf8, encodeUtf8 } from "../../../core/canonical/index.ts";
import { type FileStat, type ImageName, type ImagePiece, STAT_FIELDS, type StatList } from "../ports.ts";

// The facts of a file, then the clock of the build that saw them.
const FIELDS = STAT_FIELDS + 1;
const RACY_MS = 2000;
const HASH_LENGTH = 64;

/**
 * The whole index except the sections themselves, in pieces that load in one read each. Numbers are kept in the byte
 * order of the machine that built it; another one finds the pieces damaged and builds again.
 */
export interface IndexImage {
  /** Paths in index order. */
  readonly paths: readonly string[];
  /** Content hashes in the same order, one after the other. */
  readonly hashes: string;
  /** The stat cache: facts and clock of each file. */
  readonly stats: Float64Array;
}

/** The folders that were looked into, with facts and clock of each; none when the list of files cannot be told from them. */
export type FolderImage = StatList;

/** The way from a section id to its place. */
export interface IdTable {
  /** Per file: number of sections before it; then the total. */
  readonly starts: Float64Array;
  /** Per section, sorted: prefix of its id x size of the table + its number in index order. */
  readonly ids: Float64Array;
}

export const EMPTY_IMAGE: IndexImage = { paths: [], hashes: "", stats: new Float64Array() };

// What is written at once; whole, the images would need as much memory again as the index itself.
const PIECE = 1024 * 1024;
const PIECE_PATHS = 8192;

/** The images in pieces, each made when it is asked for and valid until the next. */
export function* encodeImages(
  origin: Uint8Array,
  image: IndexImage,
  folders: FolderImage,
  table: IdTable,
): Iterable<ImagePiece> {
  yield ["origin", origin];
  yield* encodePaths("paths", image.paths);
  yield* encodeHashes(image.hashes);
  yield* encodeNumbers("stats", image.stats);
  yield* encodePaths("folders", folders.paths);
  yield* encodeNumbers("folder_stats", folders.stats);
  yield* encodeNumbers("starts", table.starts);
  yield* encodeNumbers("ids", table.ids);
}

function* encodePaths(name: ImageName, paths: readonly string[]): Iterable<ImagePiece> {
  for (let at = 0; at < paths.length; at += PIECE_PATHS) {
    const text = paths.slice(at, at + PIECE_PATHS).join("\n");
    yield [name, encodeUtf8(at + PIECE_PATHS < paths.length ? `${text}\n` : text)];
  }
}

function* encodeHashes(hashes: string): Iterable<ImagePiece> {
  const encoder = new TextEncoder();
  const piece = new Uint8Array(Math.min(PIECE, hashes.length));
  for (let at = 0; at < hashes.length; at += PIECE) {
    const { written } = encoder.encodeInto(hashes.slice(at, at + PIECE), piece);
    yield ["hashes", piece.subarray(0, written)];
  }
}

function* encodeNumbers(name: ImageName, numbers: Float64Array): Iterable<ImagePiece> {
  const bytes = new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
  for (let at = 0; at < bytes.length; at += PIECE) yield [name, bytes.subarray(at, at + PIECE)];
}

/** Paths, hashes and stat cache; null when they do not fit together. */
export function decodeImage(paths: Uint8Array, hashes: Uint8Array, stats: Uint8Array): IndexImage | null {
  const list = decodeStats(paths, stats);
  const hashText = decodeUtf8(hashes);
  if (list === null || hashText?.length !== list.paths.length * HASH_LENGTH) return null;
  return { ...list, hashes: hashText };
}

/** Paths with facts and clock of each; null when they do not fit together. */
export function decodeStats(paths: Uint8Array, stats: Uint8Array): StatList | null {
  const text = decodeUtf8(paths);
  const numbers = toNumbers(stats);
  if (text === null || numbers === null) return null;
  // The root is the folder of the empty path: one empty line if there are numbers for it.
  const list = text === "" && numbers.length === 0 ? [] : text.split("\n");
  return numbers.length === list.length * FIELDS ? { paths: list, stats: numbers } : null;
}

/** The table of ids of so many files; null when it does not fit. */
export function decodeTable(starts: Uint8Array, ids: Uint8Array, files: number): IdTable | null {
  const first = toNumbers(starts);
  const second = toNumbers(ids);
  const fits = first !== null && second !== null && first.length === files + 1 && first[files] === second.length;
  return fits ? { starts: first, ids: second } : null;
}

function toNumbers(bytes: Uint8Array): Float64Array | null {
  if (bytes.length % 8 !== 0) return null;
  // Typed arrays want an aligned start, and the store may hand out a view into something larger.
  const aligned = bytes.byteOffset % 8 === 0 ? bytes : bytes.slice();
  return new Float64Array(aligned.buffer, aligned.byteOffset, aligned.length / 8);
}

/** Number of a path in the image, or -1. */
export function findFile(image: IndexImage, path: string): number {
  let low = 0;
  let high = image.paths.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const order = compareCodePoints(image.paths[middle]!, path);
    if (order === 0) return middle;
    if (order < 0) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}

/** Content hash of file number `i`. */
export function hashOf(image: IndexImage, i: number): string {
  return image.hashes.slice(i * HASH_LENGTH, (i + 1) * HASH_LENGTH);
}

/** A stat cache for so many files. */
export function makeStats(files: number): Float64Array {
  return new Float64Array(files * FIELDS);
}

/** Bytes of a file as the build saw it. */
export function sizeOf(image: IndexImage, i: number): number {
  return image.stats[i * FIELDS]!;
}

/** Writes the facts number `j` of a list as those of file `i`, seen by a build that began at `clock`. */
export function setStat(cache: Float64Array, i: number, facts: Float64Array, j: number, clock: number): void {
  for (let k = 0; k < STAT_FIELDS; k++) cache[i * FIELDS + k] = facts[j * STAT_FIELDS + k]!;
  cache[i * FIELDS + STAT_FIELDS] = clock;
}

/** Copies an entry of one stat cache to a place in another. */
export function copyStat(from: Float64Array, i: number, to: Float64Array, j: number): void {
  to.set(from.subarray(i * FIELDS, (i + 1) * FIELDS), j * FIELDS);
}

/** Whether a file is surely the one that was read: every fact equal, and old enough when it was read. */
export function isUnchanged(cache: Float64Array, i: number, facts: Float64Array, j: number): boolean {
  return hasSameFacts(cache, i, facts, j) && !isRacy(cache, i);
}

export function hasSameFacts(cache: Float64Array, i: number, facts: Float64Array, j: number): boolean {
  const at = i * FIELDS;
  const from = j * STAT_FIELDS;
  return (
    cache[at] === facts[from] &&
    cache[at + 1] === facts[from + 1] &&
    cache[at + 2] === facts[from + 2] &&
    cache[at + 3] === facts[from + 3] &&
    cache[at + 4] === facts[from + 4]
  );
}

/** Whether an entry was written so shortly before its build that a later write could carry the same time. */
function isRacy(cache: Float64Array, i: number): boolean {
  const at = i * FIELDS;
  const safe = cache[at + STAT_FIELDS]! - RACY_MS;
  return !(cache[at + 1]! < safe && cache[at + 2]! < safe);
}

/** The same for the facts of one file. */
export function isFileUnchanged(cache: Float64Array, i: number, stat: FileStat): boolean {
  const at = i * FIELDS;
  return (
    cache[at] === stat.size &&
    cache[at + 1] === stat.mtime_ms &&
    cache[at + 2] === stat.ctime_ms &&
    cache[at + 3] === stat.ino &&
    cache[at + 4] === stat.dev &&
    !isRacy(cache, i)
  );
}
