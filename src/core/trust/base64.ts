const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const PAD = 0x3d;
const NOT_BASE64 = 255;

const CODES = Uint8Array.from(ALPHABET, (letter) => letter.charCodeAt(0));
const VALUES = new Uint8Array(128).fill(NOT_BASE64);
for (const [value, code] of CODES.entries()) VALUES[code] = value;

const ascii = new TextDecoder();

/** Standard base64 with padding (RFC 4648 section 4). */
export function encodeBase64(bytes: Uint8Array): string {
  const text = new Uint8Array(Math.ceil(bytes.length / 3) * 4);
  let at = 0;
  for (let i = 0; i < bytes.length; i += 3) {
    const left = bytes.length - i;
    const group = (bytes[i]! << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    text[at++] = CODES[group >> 18]!;
    text[at++] = CODES[(group >> 12) & 63]!;
    text[at++] = left > 1 ? CODES[(group >> 6) & 63]! : PAD;
    text[at++] = left > 2 ? CODES[group & 63]! : PAD;
  }
  return ascii.decode(text);
}

/**
 * Decodes what `encodeBase64` writes and nothing else; null for other letters, spaces, missing or extra padding, and
 * padding bits that are not zero, so that no two texts mean the same bytes.
 */
export function decodeBase64(text: string): Uint8Array | null {
  if (text.length % 4 !== 0) return null;
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const letters = text.length - padding;
  const bytes = new Uint8Array((text.length / 4) * 3 - padding);
  let at = 0;
  for (let i = 0; i < letters; i += 4) {
    let group = 0;
    for (let j = i; j < i + 4; j++) {
      const value = j < letters ? (VALUES[text.charCodeAt(j)] ?? NOT_BASE64) : 0;
      if (value === NOT_BASE64) return null;
      group = (group << 6) | value;
    }
    if (i + 4 > letters && (group & (padding === 2 ? 0xffff : 0xff)) !== 0) return null;
    // What padding stands for is beyond the end, where nothing is kept.
    bytes[at++] = group >> 16;
    bytes[at++] = group >> 8;
    bytes[at++] = group;
  }
  return bytes;
}
