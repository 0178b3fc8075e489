const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** UTF-8 bytes of a well-formed string. */
export function encodeUtf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Decodes strictly, keeping a byte order mark; null when the bytes are ill-formed (see `findIllFormed`). */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch (thrown) {
    if (thrown instanceof TypeError) return null;
    throw thrown;
  }
}

/** Offset of the first byte of the first ill-formed sequence (Unicode table 3-7), or -1. */
export function findIllFormed(bytes: Uint8Array): number {
  let i = 0;
  while (i < bytes.length) {
    const length = sequenceLength(bytes, i);
    if (length === 0) return i;
    i += length;
  }
  return -1;
}

function sequenceLength(bytes: Uint8Array, i: number): number {
  const first = bytes[i]!;
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const second = bytes[i + 1] ?? 0;
  if (first < 0xe0) return isContinuation(second) ? 2 : 0;
  // The second byte rules out overlong forms, surrogates and values above U+10FFFF.
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  if (second < low || second > high || !isContinuation(bytes[i + 2] ?? 0)) return 0;
  if (first < 0xf0) return 3;
  return isContinuation(bytes[i + 3] ?? 0) ? 4 : 0;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

/** Number of UTF-8 bytes of a well-formed string, without encoding it. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0x80) bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return bytes;
}

/** Number of code points of a well-formed string. */
export function codePointLength(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0xdc00 && unit <= 0xdfff) count--;
  }
  return count;
}

/** All parts in one array, in their order. */
export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
