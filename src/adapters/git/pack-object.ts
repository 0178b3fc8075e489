import type { GuardedFile } from "../disk/guarded/guarded-file.ts";

export interface GitObject {
  readonly type: "commit" | "tree" | "blob" | "tag";
  readonly bytes: Buffer;
}

const TYPES: Readonly<Record<number, GitObject["type"]>> = { 1: "commit", 2: "tree", 3: "blob", 4: "tag" };
const BY_OFFSET = 6;
const BY_NAME = 7;
const HEAD_BYTES = 64;

interface PackedReading {
  /** Larger objects are not read. */
  readonly most: number;
  /** How long the name of an object is. */
  readonly name_bytes: number;
  inflate(bytes: Buffer, most: number): Buffer | null;
  base(id: string, steps: number): GitObject | null;
}

/**
 * The object at a place of a pack, differences resolved; null when it is damaged or larger than allowed. `steps` is how
 * many objects may still build on one another.
 */
export function readPacked(file: GuardedFile, offset: number, reading: PackedReading, steps: number): GitObject | null {
  if (steps === 0 || offset < 12 || offset >= file.size) return null;
  const begin = file.read(offset, HEAD_BYTES);
  const head = readHead(begin);
  if (head === null || head.size > reading.most) return null;
  const { type, size } = head;
  const name = TYPES[type];
  if (name !== undefined) {
    const bytes = inflateAt(file, offset + head.end, size, reading);
    return bytes === null ? null : { type: name, bytes };
  }
  if (type !== BY_OFFSET && type !== BY_NAME) return null;
  const link = type === BY_OFFSET ? readDistance(begin, head.end) : { value: 0, end: head.end + reading.name_bytes };
  const delta = link === null ? null : inflateAt(file, offset + link.end, size, reading);
  if (link === null || delta === null) return null;
  const base =
    type === BY_OFFSET
      ? readPacked(file, offset - link.value, reading, steps - 1)
      : reading.base(begin.subarray(head.end, link.end).toString("hex"), steps - 1);
  const made = base === null ? null : applyDelta(base.bytes, delta, reading.most);
  return made === null ? null : { type: base!.type, bytes: made };
}

/** What is packed at a place must be exactly as large as its head says. */
function inflateAt(file: GuardedFile, at: number, size: number, { inflate, most }: PackedReading): Buffer | null {
  // What cannot be made smaller grows by a few bytes per block.
  const bytes = inflate(file.read(at, size + Math.ceil(size / 1000) + HEAD_BYTES), most);
  return bytes?.length === size ? bytes : null;
}

function readHead(bytes: Buffer): { readonly type: number; readonly size: number; readonly end: number } | null {
  const first = bytes[0] ?? 0;
  let size = first & 15;
  let end = 1;
  for (let scale = 16, byte = first; (byte & 0x80) !== 0; scale *= 128) {
    byte = bytes[end++] ?? 0;
    size += (byte & 0x7f) * scale;
    if (end > 9) return null;
  }
  return bytes.length === 0 ? null : { type: (first >> 4) & 7, size, end };
}

/** How far before this object its base begins. */
function readDistance(bytes: Buffer, at: number): { readonly value: number; readonly end: number } | null {
  let byte = bytes[at++] ?? 0;
  let value = byte & 0x7f;
  for (let count = 0; (byte & 0x80) !== 0; count++) {
    if (count > 7) return null;
    byte = bytes[at++] ?? 0;
    value = (value + 1) * 128 + (byte & 0x7f);
  }
  return value <= 0 ? null : { value, end: at };
}

function applyDelta(base: Buffer, delta: Buffer, most: number): Buffer | null {
  let at = 0;
  const number = () => {
    let value = 0;
    for (let scale = 1; at < delta.length; scale *= 128) {
      const byte = delta[at++]!;
      value += (byte & 0x7f) * scale;
      if ((byte & 0x80) === 0) break;
    }
    return value;
  };
  if (number() !== base.length) return null;
  const size = number();
  if (size > most) return null;
  const parts: Buffer[] = [];
  let made = 0;
  while (at < delta.length) {
    const code = delta[at++]!;
    let part: Buffer;
    if ((code & 0x80) === 0) {
      part = delta.subarray(at, at + code);
      at += code;
    } else {
      let [from, count] = [0, 0];
      for (let i = 0; i < 4; i++) if ((code & (1 << i)) !== 0) from += (delta[at++] ?? 0) * 256 ** i;
      for (let i = 0; i < 3; i++) if ((code & (16 << i)) !== 0) count += (delta[at++] ?? 0) * 256 ** i;
      part = base.subarray(from, from + (count === 0 ? 0x10000 : count));
    }
    made += part.length;
    if (made > size || part.length === 0) return null;
    parts.push(part);
  }
  return made === size ? Buffer.concat(parts) : null;
}
