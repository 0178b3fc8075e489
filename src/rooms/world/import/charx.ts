import { decodeUtf8 } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { Inflater } from "../ports.ts";
import { crc32 } from "./crc32.ts";
import { unknownFormat } from "./refusals.ts";

const CARD = "card.json";
const MAX_CARD_BYTES = 8 * 1024 * 1024;
const MAX_ENTRIES = 10_000;
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
  return bytes.length >= END_BYTES && new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true) === LOCAL;
}

/** Where an archive begins that ends with these bytes; null where they do not end with one. */
export function findArchive(bytes: Uint8Array): number | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = findEnd(view);
  return end === null ? null : end - view.getUint32(end + 12, true) - view.getUint32(end + 16, true);
}

interface ZipEntry {
  readonly name: string;
  readonly flags: number;
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  readonly at: number;
}

/**
 * The card of a CHARX archive. Everything in the directory is judged before a byte is unpacked, only `card.json` is
 * unpacked, and never to more than it says.
 */
export function readCharxCard(inflater: Inflater, bytes: Uint8Array): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const entries = readDirectory(view, bytes);
  let total = 0;
  for (const entry of entries) {
    requireInside(entry.name);
    total += entry.size;
  }
  if (total > bytes.length * MAX_RATIO) throw tooLarge(`the archive would unpack to ${total} bytes`);
  const cards = entries.filter(({ name }) => name === CARD);
  const [card, other] = cards;
  if (card === undefined) throw unknownFormat(`the archive has no ${CARD}`);
  if (other !== undefined) throw unknownFormat(`the archive has ${CARD} twice`);
  if (card.size > MAX_CARD_BYTES) throw tooLarge(`${CARD} has ${card.size} bytes`);
  if (card.size > Math.max(card.packed, 1) * MAX_RATIO)
    throw tooLarge(`${CARD} is compressed by more than a factor of ${MAX_RATIO}`);
  return unpack(inflater, view, bytes, card);
}

function readDirectory(view: DataView, bytes: Uint8Array): ZipEntry[] {
  const end = findEnd(view);
  if (end === null) throw damaged();
  const count = view.getUint16(end + 10, true);
  let at = view.getUint32(end + 16, true);
  if (view.getUint16(end + 4, true) !== 0 || at === 0xffffffff || count === 0xffff) {
    throw unknownFormat("the archive is split or in the 64-bit format");
  }
  if (count > MAX_ENTRIES) throw tooLarge(`the archive has ${count} files`);
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

function unpack(inflater: Inflater, view: DataView, bytes: Uint8Array, card: ZipEntry): Uint8Array {
  if ((card.flags & 1) !== 0) throw unknownFormat(`${CARD} is encrypted`);
  if (card.at + 30 > bytes.length || view.getUint32(card.at, true) !== LOCAL) throw damaged();
  const nameLength = view.getUint16(card.at + 26, true);
  const from = card.at + 30 + nameLength + view.getUint16(card.at + 28, true);
  const name = decodeUtf8(bytes.subarray(card.at + 30, card.at + 30 + nameLength));
  if (name !== CARD || from + card.packed > bytes.length) throw damaged();
  const packed = bytes.subarray(from, from + card.packed);
  const json =
    card.method === STORED ? packed : card.method === DEFLATED ? inflater.raw(packed, card.size) : unsupported(card);
  if (json === null || json.length !== card.size || crc32(json) !== card.crc) throw damaged();
  return json;
}

function unsupported({ method }: ZipEntry): never {
  throw unknownFormat(`${CARD} is compressed with the unknown method ${method}`);
}

function damaged(): VerbatimError {
  return unknownFormat("the archive is damaged");
}

function tooLarge(message: string): VerbatimError {
  return new VerbatimError("IMPORT_TOO_LARGE", { message });
}
