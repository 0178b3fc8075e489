import { decodeUtf8 } from "../../../core/canonical/index.ts";
import type { Inflater } from "../ports.ts";
import { crc32 } from "./crc32.ts";
import { importTooLarge, unknownFormat } from "./refusals.ts";

const MAX_RATIO = 100;

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const END_BYTES = 22;
const MAX_COMMENT = 65_535;
const STORED = 0;
const DEFLATED = 8;

/** Whether bytes begin like a zip archive. */
export function isZip(bytes: Uint8Array): boolean {
  return bytes.length >= END_BYTES && viewOf(bytes).getUint32(0, true) === LOCAL;
}

/** Where an archive begins that ends with these bytes; null where they do not end with one. */
export function findArchive(bytes: Uint8Array): number | null {
  const view = viewOf(bytes);
  const end = findEnd(view);
  return end === null ? null : end - view.getUint32(end + 12, true) - view.getUint32(end + 16, true);
}

/** A file of an archive, as its directory says. */
export interface ZipEntry {
  readonly name: string;
  readonly size: number;
  readonly packed: number;
  readonly flags: number;
  readonly method: number;
  readonly crc: number;
  readonly at: number;
}

/** The directory of an archive. All of it is judged before a byte is unpacked. */
export function readZip(bytes: Uint8Array, most: number): ZipEntry[] {
  const entries = readDirectory(bytes, most);
  let total = 0;
  for (const { name, size } of entries) {
    requireInside(name);
    total += size;
  }
  if (total > bytes.length * MAX_RATIO) throw importTooLarge(`the archive would unpack to ${total} bytes`);
  return entries;
}

function readDirectory(bytes: Uint8Array, most: number): ZipEntry[] {
  const view = viewOf(bytes);
  const end = findEnd(view);
  if (end === null) throw damaged();
  const count = view.getUint16(end + 10, true);
  let at = view.getUint32(end + 16, true);
  if (view.getUint16(end + 4, true) !== 0 || at === 0xffffffff || count === 0xffff) {
    throw unknownFormat("the archive is split or in the 64-bit format");
  }
  if (count > most) throw importTooLarge(`the archive has ${count} files`);
  const entries: ZipEntry[] = [];
  for (let i = 0; i < count; i++) {
    if (at + 46 > end || view.getUint32(at, true) !== CENTRAL) throw damaged();
    const nameLength = view.getUint16(at + 28, true);
    const next = at + 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
    const name = decodeUtf8(bytes.subarray(at + 46, at + 46 + nameLength));
    if (next > end || name === null) throw damaged();
    entries.push({
      name,
      flags: view.getUint16(at + 8, true),
      method: view.getUint16(at + 10, true),
      crc: view.getUint32(at + 16, true),
      packed: view.getUint32(at + 20, true),
      size: view.getUint32(at + 24, true),
      at: view.getUint32(at + 42, true),
    });
    at = next;
  }
  return entries;
}

function findEnd(view: DataView): number | null {
  const first = Math.max(0, view.byteLength - END_BYTES - MAX_COMMENT);
  for (let at = view.byteLength - END_BYTES; at >= first; at--) {
    if (view.getUint32(at, true) === END && at + END_BYTES + view.getUint16(at + 20, true) === view.byteLength)
      return at;
  }
  return null;
}

function requireInside(name: string): void {
  const parts = name.split("/");
  const leads = name === "" || name.includes("\0") || name.includes("\\") || /^[A-Za-z]:/.test(name);
  if (leads || name.startsWith("/") || parts.includes("..")) {
    throw unknownFormat(`the archive contains a name that points outside it: ${JSON.stringify(name.slice(0, 80))}`);
  }
}

/** The bytes of a file of an archive, never more than its directory says. */
export function unzip(inflater: Inflater, bytes: Uint8Array, entry: ZipEntry): Uint8Array {
  const { name, size, packed: length, method, crc } = entry;
  const view = viewOf(bytes);
  if (size > Math.max(length, 1) * MAX_RATIO)
    throw importTooLarge(`${name} is compressed by more than a factor of ${MAX_RATIO}`);
  if ((entry.flags & 1) !== 0) throw unknownFormat(`${name} is encrypted`);
  if (entry.at + 30 > bytes.length || view.getUint32(entry.at, true) !== LOCAL) throw damaged();
  const nameLength = view.getUint16(entry.at + 26, true);
  const from = entry.at + 30 + nameLength + view.getUint16(entry.at + 28, true);
  const named = decodeUtf8(bytes.subarray(entry.at + 30, entry.at + 30 + nameLength));
  if (named !== name || from + length > bytes.length) throw damaged();
  const packed = bytes.subarray(from, from + length);
  if (method !== STORED && method !== DEFLATED)
    throw unknownFormat(`${name} is compressed with the unknown method ${method}`);
  const plain = method === STORED ? packed : inflater.raw(packed, size);
  if (plain === null || plain.length !== size || crc32(plain) !== crc) throw damaged();
  return plain;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function damaged(): Error {
  return unknownFormat("the archive is damaged");
}
