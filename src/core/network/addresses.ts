/** The bytes of an address as resolvers write it, 4 or 16 of them; null for anything else. */
export function parseAddress(text: string): Uint8Array | null {
  return text.includes(":") ? parseV6(text) : parseV4(text);
}

function parseV4(text: string): Uint8Array | null {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9][0-9]{0,2})$/.test(part))) return null;
  const bytes = parts.map(Number);
  return bytes.every((byte) => byte <= 255) ? Uint8Array.from(bytes) : null;
}

function parseV6(text: string): Uint8Array | null {
  const halves = text.split("::");
  if (halves.length > 2) return null;
  const [head, tail] = halves.map((half, i) => readGroups(half, i === halves.length - 1));
  if (head == null || (halves.length === 2 && tail == null)) return null;
  if (tail == null) return head.length === 16 ? Uint8Array.from(head) : null;
  const gap = 16 - head.length - tail.length;
  return gap < 2 ? null : Uint8Array.from([...head, ...new Array<number>(gap).fill(0), ...tail]);
}

/** Groups of four hexadecimal digits; at the end of the whole address also the four numbers of the older kind. */
function readGroups(text: string, isLast: boolean): number[] | null {
  if (text === "") return [];
  const bytes: number[] = [];
  const groups = text.split(":");
  for (const [i, group] of groups.entries()) {
    if (isLast && i === groups.length - 1 && group.includes(".")) {
      const v4 = parseV4(group);
      if (v4 === null) return null;
      bytes.push(...v4);
    } else {
      if (!/^[0-9a-fA-F]{1,4}$/.test(group)) return null;
      const value = Number.parseInt(group, 16);
      bytes.push(value >> 8, value & 255);
    }
  }
  return bytes.length > 16 ? null : bytes;
}

/** Prefix, and how many of its bits count. */
type Block = readonly [bytes: readonly number[], bits: number];

/** What the registries of special addresses say is not the public internet. */
const NOT_PUBLIC_V4: readonly Block[] = [
  [[0], 8],
  [[10], 8],
  [[100, 64], 10],
  [[127], 8],
  [[169, 254], 16],
  [[172, 16], 12],
  [[192, 0, 0], 24],
  [[192, 0, 2], 24],
  [[192, 31, 196], 24],
  [[192, 52, 193], 24],
  [[192, 88, 99], 24],
  [[192, 168], 16],
  [[192, 175, 48], 24],
  [[198, 18], 15],
  [[198, 51, 100], 24],
  [[203, 0, 113], 24],
  [[224], 3],
];

/** Of the newer addresses only this block is public, and of that everything but the exceptions. */
const PUBLIC_V6: Block = [[0x20], 3];
const NOT_PUBLIC_V6: readonly Block[] = [
  [[0x20, 0x01, 0x00], 23],
  [[0x20, 0x01, 0x0d, 0xb8], 32],
  [[0x20, 0x02], 16],
  [[0x26, 0x20, 0x00, 0x4f, 0x80, 0x00], 48],
  [[0x3f, 0xfe], 16],
  [[0x3f, 0xff, 0x00], 20],
];

/**
 * Whether an address belongs to the public internet. Loopback, private, link-local, shared, multicast and documentation
 * addresses do not, and none that carries another inside (mapped, 6to4, NAT64, Teredo). What cannot be read is not public.
 */
export function isPublicAddress(text: string): boolean {
  const bytes = parseAddress(text);
  if (bytes === null) return false;
  if (bytes.length === 4) return !NOT_PUBLIC_V4.some((block) => isIn(bytes, block));
  return isIn(bytes, PUBLIC_V6) && !NOT_PUBLIC_V6.some((block) => isIn(bytes, block));
}

function isIn(bytes: Uint8Array, [prefix, bits]: Block): boolean {
  for (let bit = 0; bit < bits; bit += 8) {
    const mask = bits - bit >= 8 ? 255 : (255 << (8 - (bits - bit))) & 255;
    if (((bytes[bit / 8]! ^ (prefix[bit / 8] ?? 0)) & mask) !== 0) return false;
  }
  return true;
}
