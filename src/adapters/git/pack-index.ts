import type { GuardedFile } from "../disk/guarded/guarded-file.ts";

const MAGIC = 0xff744f63;
const FANOUT = 8;
const NAMES = FANOUT + 256 * 4;
const FAR = 0x8000_0000;

/** Where a pack index (version 2) says that an object begins, or null. Cost: a few short reads. */
export function findInIndex(file: GuardedFile, id: string): number | null {
  const width = id.length / 2;
  const head = file.read(0, NAMES);
  if (head.length < NAMES || head.readUInt32BE(0) !== MAGIC || head.readUInt32BE(4) !== 2) return null;
  const total = head.readUInt32BE(NAMES - 4);
  // Names, checksums and places of so many objects must fit the file.
  if (NAMES + total * (width + 8) > file.size) return null;
  const wanted = Buffer.from(id, "hex");
  const first = wanted[0]!;
  let low = first === 0 ? 0 : head.readUInt32BE(FANOUT + (first - 1) * 4);
  let high = Math.min(head.readUInt32BE(FANOUT + first * 4), total);
  while (low < high) {
    const middle = (low + high) >>> 1;
    const order = file.read(NAMES + middle * width, width).compare(wanted);
    if (order === 0) return readOffset(file, NAMES + total * (width + 4), total, middle);
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return null;
}

function readOffset(file: GuardedFile, table: number, total: number, row: number): number | null {
  const near = file.read(table + row * 4, 4);
  if (near.length < 4) return null;
  const offset = near.readUInt32BE(0);
  if (offset < FAR) return offset;
  const far = file.read(table + total * 4 + (offset - FAR) * 8, 8);
  return far.length < 8 ? null : Number(far.readBigUInt64BE(0));
}
