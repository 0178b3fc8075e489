const LEAST = 16 * 1024;
const MOST = 256 * 1024;
/** One place in 65,536 ends a piece: they have about 64 KiB. */
const ENDS = 0xffff0000;

/** 256 numbers that have nothing to do with each other, always the same: FNV-1a of each byte, mixed. */
const GEAR = Int32Array.from({ length: 256 }, (_, byte) => {
  let value = Math.imul(0x811c9dc5 ^ byte, 0x01000193);
  for (let i = 0; i < 4; i++) {
    value = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d);
    value = Math.imul(value ^ (value >>> 12), 0x297a2d39);
    value ^= value >>> 15;
  }
  return value;
});

/**
 * Cuts bytes where their content says so, so that what two files have in common becomes the same pieces although it stands
 * elsewhere in each. Linear; the pieces are views.
 */
export function* cutByContent(bytes: Uint8Array): Generator<Uint8Array> {
  let from = 0;
  let rolling = 0;
  for (let at = 0; at < bytes.length; at++) {
    // The last 32 bytes: older ones are shifted out.
    rolling = (Math.imul(rolling, 2) + GEAR[bytes[at]!]!) | 0;
    const length = at + 1 - from;
    if (length < LEAST || ((rolling & ENDS) !== 0 && length < MOST)) continue;
    yield bytes.subarray(from, at + 1);
    from = at + 1;
  }
  if (from < bytes.length) yield bytes.subarray(from);
}
