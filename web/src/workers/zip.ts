/** Why a dropped archive is not even looked into. */
export type ZipRefusal =
  | "ZIP_DAMAGED"
  | "ZIP_UNSUPPORTED"
  | "ZIP_LINK"
  | "ZIP_NAME"
  | "ZIP_TWIN"
  | "TOO_MANY_FILES"
  | "TOO_LARGE"
  | "TOO_DENSE";

export class ZipRefused extends Error {
  readonly code: ZipRefusal;

  constructor(code: ZipRefusal) {
    super(code);
    this.code = code;
  }
}

export const LIMITS = { bytes: 512 * 1024 * 1024, files: 50_000, ratio: 200 } as const;

/** Below this size a high ratio harms nobody: a file of one letter compresses well. */
const SMALL = 1024 * 1024;
const END = 0x06054b50;
const ENTRY = 0x02014b50;
const LOCAL = 0x04034b50;
const END_BYTES = 22;
const LONGEST_COMMENT = 0xffff;
const LINK = 0o120000;
const KIND = 0o170000;

interface Entry {
  readonly name: string;
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  readonly offset: number;
}

/** The files of an archive by their names. What its list says is judged before a single byte is unpacked. */
export async function unzip(
  bytes: Uint8Array<ArrayBuffer>,
): Promise<{ readonly files: Map<string, Uint8Array>; readonly folders: Set<string> }> {
  const { entries, folders } = readList(bytes);
  const files = new Map<string, Uint8Array>();
  for (const entry of entries) files.set(entry.name, await unpack(bytes, entry));
  return { files, folders };
}

function readList(bytes: Uint8Array): { readonly entries: readonly Entry[]; readonly folders: Set<string> } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = findEnd(view);
  const number = view.getUint16(end + 10, true);
  let at = view.getUint32(end + 16, true);
  if (number === 0xffff || at === 0xffffffff || view.getUint16(end + 4, true) !== 0)
    throw new ZipRefused("ZIP_UNSUPPORTED");
  if (number > LIMITS.files) throw new ZipRefused("TOO_MANY_FILES");
  const entries: Entry[] = [];
  const folders = new Set<string>();
  const seen = new Set<string>();
  let total = 0;
  for (let n = 0; n < number; n++) {
    if (at + 46 > end || view.getUint32(at, true) !== ENTRY) throw new ZipRefused("ZIP_DAMAGED");
    const next =
      at + 46 + view.getUint16(at + 28, true) + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
    const name = readName(bytes.subarray(at + 46, at + 46 + view.getUint16(at + 28, true)));
    const [packed, size] = [view.getUint32(at + 20, true), view.getUint32(at + 24, true)];
    if ((view.getUint16(at + 8, true) & 1) !== 0 || size === 0xffffffff) throw new ZipRefused("ZIP_UNSUPPORTED");
    // The upper half holds the mode where the archive was made on a system that has one.
    if (((view.getUint32(at + 38, true) >>> 16) & KIND) === LINK) throw new ZipRefused("ZIP_LINK");
    const isFolder = name.endsWith("/");
    const path = isFolder ? name.slice(0, -1) : name;
    // Two names that one disk would take for the same are twins as well.
    const twin = path.normalize("NFC").toLowerCase();
    if (seen.has(twin)) throw new ZipRefused("ZIP_TWIN");
    seen.add(twin);
    if (isFolder) folders.add(path);
    else {
      total += size;
      if (total > LIMITS.bytes) throw new ZipRefused("TOO_LARGE");
      if (size > SMALL && size > packed * LIMITS.ratio) throw new ZipRefused("TOO_DENSE");
      const [method, crc, offset] = [
        view.getUint16(at + 10, true),
        view.getUint32(at + 16, true),
        view.getUint32(at + 42, true),
      ];
      entries.push({ name: path, method, crc, packed, size, offset });
    }
    at = next;
  }
  return { entries, folders };
}

function findEnd(view: DataView): number {
  const lowest = Math.max(0, view.byteLength - END_BYTES - LONGEST_COMMENT);
  for (let at = view.byteLength - END_BYTES; at >= lowest; at--) if (view.getUint32(at, true) === END) return at;
  throw new ZipRefused("ZIP_DAMAGED");
}

function readName(bytes: Uint8Array): string {
  let name: string;
  try {
    name = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new ZipRefused("ZIP_NAME");
  }
  const parts = (name.endsWith("/") ? name.slice(0, -1) : name).split("/");
  const isClean = parts.every((part) => part !== "" && part !== "." && part !== ".." && !/[\\\u0000]/.test(part));
  if (!isClean || /^[A-Za-z]:/.test(name)) throw new ZipRefused("ZIP_NAME");
  return name;
}

async function unpack(
  bytes: Uint8Array<ArrayBuffer>,
  { method, crc, packed, size, offset }: Entry,
): Promise<Uint8Array> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (offset + 30 > bytes.length || view.getUint32(offset, true) !== LOCAL) throw new ZipRefused("ZIP_DAMAGED");
  const from = offset + 30 + view.getUint16(offset + 26, true) + view.getUint16(offset + 28, true);
  const part = bytes.subarray(from, from + packed);
  if (part.length !== packed) throw new ZipRefused("ZIP_DAMAGED");
  if (method !== 0 && method !== 8) throw new ZipRefused("ZIP_UNSUPPORTED");
  const made = method === 0 ? part.slice() : await inflate(part, size);
  if (made.length !== size || crcOf(made) !== crc) throw new ZipRefused("ZIP_DAMAGED");
  return made;
}

/** An archive that lies about a size is caught here: there is room for what it claimed and for nothing more. */
async function inflate(part: Uint8Array<ArrayBuffer>, size: number): Promise<Uint8Array> {
  const made = new Uint8Array(size);
  let at = 0;
  const reader = new Blob([part]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return made.subarray(0, at);
      if (at + value.length > size) throw new ZipRefused("ZIP_DAMAGED");
      made.set(value, at);
      at += value.length;
    }
  } catch (thrown) {
    await reader.cancel().catch(() => undefined);
    throw thrown instanceof ZipRefused ? thrown : new ZipRefused("ZIP_DAMAGED");
  }
}

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let value = n;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value >>> 0;
});

function crcOf(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ TABLE[(crc ^ byte) & 0xff]!;
  return (crc ^ 0xffffffff) >>> 0;
}
