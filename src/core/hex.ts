const DIGITS = "0123456789abcdef";
const NOT_HEX = 255;

/** Value of each lower-case hex digit by its character code. */
const VALUES = new Uint8Array(128).fill(NOT_HEX);
for (let i = 0; i < 16; i++) VALUES[DIGITS.charCodeAt(i)] = i;

const PAIRS: readonly string[] = Array.from({ length: 256 }, (_, byte) => DIGITS[byte >> 4]! + DIGITS[byte & 15]!);

/** Bytes as lower-case hex. */
export function toHex(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i++) text += PAIRS[bytes[i]!]!;
  return text;
}

/** The bytes of lower-case hex, or null for anything else. */
export function fromHex(text: string): Uint8Array | null {
  if (text.length % 2 !== 0) return null;
  const bytes = new Uint8Array(text.length / 2);
  return writeHex(text, bytes, 0) ? bytes : null;
}

/** Writes the bytes of lower-case hex into a buffer that has room for them; false when the text is not such hex. */
export function writeHex(text: string, target: Uint8Array, offset: number): boolean {
  for (let i = 0, at = offset; i < text.length; i += 2, at++) {
    const high = VALUES[text.charCodeAt(i)] ?? NOT_HEX;
    const low = VALUES[text.charCodeAt(i + 1)] ?? NOT_HEX;
    if (high === NOT_HEX || low === NOT_HEX) return false;
    target[at] = (high << 4) | low;
  }
  return true;
}
