import { decodeUtf8 } from "../../../core/canonical/index.ts";
import { decodeBase64 } from "../../../core/trust/base64.ts";
import type { Inflater } from "../ports.ts";
import { crc32 } from "./crc32.ts";
import { unknownFormat } from "./refusals.ts";

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] as const;

const KEYWORDS: ReadonlySet<string> = new Set(["ccv3", "chara"]);
// Base64 of eight megabytes of JSON.
const MAX_TEXT_BYTES = 12 * 1024 * 1024;
const MAX_RATIO = 100;

/** Whether bytes begin like a PNG. */
export function isPng(bytes: Uint8Array): boolean {
  return SIGNATURE.every((byte, i) => bytes[i] === byte);
}

/** The JSON bytes of the card inside a PNG: of chunk `ccv3` when there is one, else of `chara`. Checks every CRC. */
export function readPngCard(inflater: Inflater, bytes: Uint8Array): Uint8Array {
  const json = findPngCard(inflater, bytes);
  if (json === null) throw unknownFormat("the image contains no card");
  return json;
}

/** The same; null where the image has none. */
export function findPngCard(inflater: Inflater, bytes: Uint8Array): Uint8Array | null {
  const found = new Map<string, string>();
  for (const { type, data } of readChunks(bytes)) {
    const text = type === "tEXt" ? readText(data) : type === "iTXt" ? readInternationalText(inflater, data) : null;
    if (text !== null && !found.has(text.keyword)) found.set(text.keyword, text.value);
  }
  const value = found.get("ccv3") ?? found.get("chara");
  if (value === undefined) return null;
  const json = decodeBase64(value.replace(/[\r\n\t ]+/g, ""));
  if (json === null) throw unknownFormat("the card in the image is not base64");
  return json;
}

interface Chunk {
  readonly type: string;
  readonly data: Uint8Array;
  /** All of it, with its length and its checksum. */
  readonly whole: Uint8Array;
  /** Where the next one begins. */
  readonly end: number;
}

/** The chunks of a PNG up to its end, each with a checksum that is right. */
export function* readChunks(bytes: Uint8Array): Generator<Chunk> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at: number = SIGNATURE.length;
  while (at + 12 <= bytes.length) {
    const length = view.getUint32(at);
    const end = at + 12 + length;
    if (end > bytes.length) throw unknownFormat("the image ends in the middle of a chunk");
    const named = bytes.subarray(at + 4, at + 8 + length);
    if (crc32(named) !== view.getUint32(end - 4)) throw unknownFormat("a chunk of the image is damaged");
    const type = String.fromCharCode(...named.subarray(0, 4));
    yield { type, data: named.subarray(4), whole: bytes.subarray(at, end), end };
    if (type === "IEND") return;
    at = end;
  }
  throw unknownFormat("the image has no end");
}

function readText(data: Uint8Array): { keyword: string; value: string } | null {
  const zero = data.indexOf(0);
  if (zero < 0) return null;
  return { keyword: toLatin1(data.subarray(0, zero)), value: toLatin1(data.subarray(zero + 1)) };
}

/** Text of a chunk of our own is unpacked within limits; other compressed text is not touched. */
function readInternationalText(inflater: Inflater, data: Uint8Array): { keyword: string; value: string } | null {
  const zero = data.indexOf(0);
  const keyword = zero < 0 ? "" : toLatin1(data.subarray(0, zero));
  if (!KEYWORDS.has(keyword)) return null;
  const language = data.indexOf(0, zero + 3);
  const translated = language < 0 ? -1 : data.indexOf(0, language + 1);
  if (translated < 0) return null;
  const text = data.subarray(translated + 1);
  const value = decodeUtf8(data[zero + 1] === 0 ? text : unpack(inflater, text, data[zero + 2]!));
  return value === null ? null : { keyword, value };
}

function unpack(inflater: Inflater, packed: Uint8Array, method: number): Uint8Array {
  if (method !== 0) throw unknownFormat("the card in the image is compressed with an unknown method");
  const text = inflater.zlib(packed, Math.min(packed.length * MAX_RATIO, MAX_TEXT_BYTES));
  if (text === null) throw unknownFormat("the card in the image is damaged or suspiciously well compressed");
  return text;
}

function toLatin1(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return text;
}
