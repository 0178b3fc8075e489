import { compareCodePoints } from "./order.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "./value.ts";
import { formatCanonical, formatString } from "./write.ts";

const encoder = new TextEncoder();
const FIRST_SIZE = 64 * 1024;

/**
 * The canonical bytes of a large object, written member by member and item by item: next to the result only one piece is
 * in memory as text. The bytes are those of `formatCanonical`; `likely` is how many they probably are.
 */
export function encodeCanonical(value: JsonObject, likely = FIRST_SIZE): Uint8Array {
  let bytes = new Uint8Array(likely);
  let size = 0;
  writeMembers(value, (text) => {
    // Canonical text is ASCII: a byte for each unit.
    const needed = size + text.length;
    if (needed > bytes.length) {
      const larger = new Uint8Array(Math.max(needed, bytes.length * 2));
      larger.set(bytes.subarray(0, size));
      bytes = larger;
    }
    size += encoder.encodeInto(text, bytes.subarray(size)).written;
  });
  return bytes.subarray(0, size);
}

/** Whether bytes are the canonical form of an object, without writing all of that form. */
export function isCanonicalForm(bytes: Uint8Array, value: JsonObject): boolean {
  let at = 0;
  let same = true;
  writeMembers(value, (text) => {
    if (!same) return;
    for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) !== bytes[at + i]) same = false;
    at += text.length;
  });
  return same && at === bytes.length;
}

function writeMembers(value: JsonObject, put: (text: string) => void): void {
  put("{");
  for (const [i, key] of Object.keys(value).sort(compareCodePoints).entries()) {
    put(`${i === 0 ? "" : ","}${formatString(key)}:`);
    const member = value[key]!;
    if (Array.isArray(member)) writeItems(member as readonly JsonValue[], put);
    else if (isJsonObject(member)) writeMembers(member, put);
    else put(formatCanonical(member));
  }
  put("}");
}

function writeItems(items: readonly JsonValue[], put: (text: string) => void): void {
  put("[");
  for (const [i, item] of items.entries()) put(`${i === 0 ? "" : ","}${formatCanonical(item)}`);
  put("]");
}
