import { compareCodePoints, decodeUtf8, encodeUtf8 } from "../../core/canonical/index.ts";
import type { FileStat, ImageName } from "./ports.ts";

const FIELDS = 6;
const RACY_NS = 2_000_000_000n;
const HASH_LENGTH = 64;

/**
 * The whole index except the sections themselves, as a few typed arrays that load in one read each: paths in index
 * order, their content hashes, the stat cache, and a sorted table from section ids to places. Arrays are kept in the
 * byte order of the machine, which is little-endian wherever Node runs.
 */
export interface IndexImage {
  readonly paths: readonly string[];
  readonly hashes: readonly string[];
  /** Per file: size, mtime, ctime, inode, device, clock of the build that made the entry. */
  readonly stats: BigInt64Array;
  /** Per file: number of sections before it; then the total. */
  readonly starts: Float64Array;
  /** Per section, sorted: prefix of its id x size of the table + its number in index order. */
  readonly ids: Float64Array;
}

export type ImageBytes = Readonly<Record<ImageName, Uint8Array>>;

export const EMPTY_IMAGE: IndexImage = {
  paths: [],
  hashes: [],
  stats: new BigInt64Array(),
  starts: new Float64Array([0]),
  ids: new Float64Array(),
};

/** The bytes of each part. */
export function encodeImage(image: IndexImage): ImageBytes {
  return {
    paths: encodeUtf8(image.paths.join("\n")),
    hashes: encodeUtf8(image.hashes.join("")),
    stats: toBytes(image.stats),
    starts: toBytes(image.starts),
    ids: toBytes(image.ids),
  };
}

/** The image of its parts; null when they do not fit together. */
export function decodeImage(parts: ImageBytes): IndexImage | null {
  const text = decodeUtf8(parts.paths);
  const paths = text === null || text === "" ? [] : text.split("\n");
  const hashText = decodeUtf8(parts.hashes) ?? "";
  const hashes = paths.map((_, i) => hashText.slice(i * HASH_LENGTH, (i + 1) * HASH_LENGTH));
  const stats = new BigInt64Array(toBuffer(parts.stats));
  const starts = new Float64Array(toBuffer(parts.starts));
  const ids = new Float64Array(toBuffer(parts.ids));
  const fits =
    text !== null &&
    hashText.length === paths.length * HASH_LENGTH &&
    stats.length === paths.length * FIELDS &&
    starts.length === paths.length + 1 &&
    ids.length === starts[paths.length];
  return fits ? { paths, hashes, stats, starts, ids } : null;
}

function toBytes(array: BigInt64Array | Float64Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

// A copy, because typed arrays want an aligned start and the store may hand out a view into something larger.
function toBuffer(bytes: Uint8Array): ArrayBuffer {
  return bytes.slice(0, bytes.length - (bytes.length % 8)).buffer as ArrayBuffer;
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

/** Writes the stat of file `i` as seen by a build that began at `clock`. */
export function setStat(stats: BigInt64Array, i: number, stat: FileStat, clock: bigint): void {
  const at = i * FIELDS;
  stats[at] = stat.size;
  stats[at + 1] = stat.mtime_ns;
  stats[at + 2] = stat.ctime_ns;
  stats[at + 3] = BigInt.asIntN(64, stat.ino);
  stats[at + 4] = BigInt.asIntN(64, stat.dev);
  stats[at + 5] = clock;
}

/** Copies the stat of one file to another place. */
export function copyStat(from: BigInt64Array, i: number, to: BigInt64Array, j: number): void {
  to.set(from.subarray(i * FIELDS, (i + 1) * FIELDS), j * FIELDS);
}

/** Whether a file is surely the one that was read: every fact equal, and old enough when it was read. */
export function isUnchanged(stats: BigInt64Array, i: number, stat: FileStat): boolean {
  const at = i * FIELDS;
  return (
    stats[at] === stat.size &&
    stats[at + 1] === stat.mtime_ns &&
    stats[at + 2] === stat.ctime_ns &&
    stats[at + 3] === BigInt.asIntN(64, stat.ino) &&
    stats[at + 4] === BigInt.asIntN(64, stat.dev) &&
    // Racy: written so shortly before the build that a later write could carry the same time.
    stat.mtime_ns < stats[at + 5]! - RACY_NS &&
    stat.ctime_ns < stats[at + 5]! - RACY_NS
  );
}

export function makeStats(files: number): BigInt64Array {
  return new BigInt64Array(files * FIELDS);
}

/** The sorted table of ids. Cost: n log n over plain numbers. */
export function makeIdTable(prefixes: Float64Array): Float64Array {
  const span = tableSpan(prefixes.length);
  const scale = prefixScale(span);
  const table = prefixes.map((prefix, i) => Math.floor(prefix / scale) * span + i);
  return table.sort();
}

/** Numbers, in index order, of the sections whose id may be this one. */
export function findCandidates(image: IndexImage, sectionId: string): number[] {
  const span = tableSpan(image.ids.length);
  const wanted = Math.floor(idPrefix(sectionId) / prefixScale(span)) * span;
  let low = 0;
  let high = image.ids.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (image.ids[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  const found: number[] = [];
  for (; low < image.ids.length && image.ids[low]! < wanted + span; low++) found.push(image.ids[low]! - wanted);
  return found;
}

/** First 48 bits of a hash as a number. */
export function idPrefix(sectionId: string): number {
  return Number.parseInt(sectionId.slice(0, 12), 16);
}

/** File and ordinal of section number `n`. */
export function placeOf(image: IndexImage, n: number): { readonly file: number; readonly ordinal: number } {
  let low = 0;
  let high = image.paths.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (image.starts[middle]! <= n) low = middle;
    else high = middle - 1;
  }
  return { file: low, ordinal: n - image.starts[low]! };
}

function tableSpan(sections: number): number {
  return 2 ** Math.max(5, Math.ceil(Math.log2(sections + 1)));
}

// A table entry must stay a safe integer: the larger the table, the fewer bits of the id remain (at least 5 + 48 - 53).
function prefixScale(span: number): number {
  return span / 32;
}
