import { concatBytes } from "../../../core/canonical/index.ts";
import { isJpeg, isRemark, readSegments } from "./jpeg.ts";
import { isPng, readChunks } from "./png.ts";
import { importTooLarge, unknownFormat } from "./refusals.ts";

/** Largest picture of a person. */
export const MAX_PICTURE = 4 * 1024 * 1024;
const MAX_SIDE = 16_384;

export interface CleanPicture {
  readonly media_type: "image/png" | "image/jpeg" | "image/webp";
  readonly bytes: Uint8Array;
}

/** A picture without anything that is said beside it: the image of a card carries the whole card, secrets included. */
export function cleanPicture(bytes: Uint8Array): CleanPicture {
  const clean = isPng(bytes)
    ? cleanPng(bytes)
    : isJpeg(bytes)
      ? cleanJpeg(bytes)
      : isWebp(bytes)
        ? cleanWebp(bytes)
        : null;
  if (clean === null) throw unknownFormat("the picture is not a PNG, JPEG or WebP");
  if (clean.bytes.length > MAX_PICTURE) throw importTooLarge(`a picture has at most ${MAX_PICTURE} bytes`);
  return clean;
}

const PNG_PARTS: ReadonlySet<string> = new Set(["IHDR", "PLTE", "tRNS", "IDAT", "IEND"]);

function cleanPng(bytes: Uint8Array): CleanPicture {
  const chunks = [...readChunks(bytes)];
  const [first] = chunks;
  const count = (type: string) => chunks.filter((chunk) => chunk.type === type).length;
  const isWhole = first?.type === "IHDR" && first.data.length === 13 && count("IHDR") === 1 && count("IDAT") > 0;
  if (!isWhole || count("PLTE") > 1 || count("tRNS") > 1) throw damaged();
  const view = new DataView(first.data.buffer, first.data.byteOffset);
  requireSize(view.getUint32(0), view.getUint32(4));
  const kept = chunks.filter(({ type, data }) => PNG_PARTS.has(type) && (type !== "IEND" || data.length === 0));
  if (kept.at(-1)?.type !== "IEND") throw damaged();
  return { media_type: "image/png", bytes: concatBytes([bytes.subarray(0, 8), ...kept.map(({ whole }) => whole)]) };
}

/** Start of a frame, of any kind of coding. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

function cleanJpeg(bytes: Uint8Array): CleanPicture {
  const segments = [...readSegments(bytes)];
  const frame = segments.find(({ marker }) => isFrame(marker));
  if (frame === undefined || frame.end - frame.from < 9) throw damaged();
  // Marker, length, precision, then the two sides.
  const side = (at: number) => bytes[at]! * 256 + bytes[at + 1]!;
  requireSize(side(frame.end - lengthOf(bytes, frame) + 5), side(frame.end - lengthOf(bytes, frame) + 3));
  const kept = segments.filter(({ marker }) => !isRemark(marker));
  return { media_type: "image/jpeg", bytes: concatBytes(kept.map(({ from, end }) => bytes.subarray(from, end))) };
}

/** Bytes of a segment from its length on. */
function lengthOf(bytes: Uint8Array, { from, end }: { readonly from: number; readonly end: number }): number {
  let at = from;
  while (bytes[at] === 0xff) at++;
  return end - (at + 1);
}

function isWebp(bytes: Uint8Array): boolean {
  return bytes.length >= 20 && nameAt(bytes, 0) === "RIFF" && nameAt(bytes, 8) === "WEBP";
}

const WEBP_PARTS: ReadonlySet<string> = new Set(["VP8 ", "VP8L", "VP8X", "ALPH", "ANIM", "ANMF"]);
/** What an extended header says is there besides the picture: colours, Exif and XMP. */
const WEBP_REMARKS = 0x20 | 0x08 | 0x04;

function cleanWebp(bytes: Uint8Array): CleanPicture {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = 8 + view.getUint32(4, true);
  if (end > bytes.length) throw damaged();
  const kept: Uint8Array[] = [];
  for (let at = 12; at < end; ) {
    if (at + 8 > end) throw damaged();
    const length = view.getUint32(at + 4, true);
    const next = at + 8 + length + (length % 2);
    if (next > end) throw damaged();
    const name = nameAt(bytes, at);
    if (WEBP_PARTS.has(name)) {
      const part = new Uint8Array(bytes.subarray(at, next));
      if (name === "VP8X") {
        if (length < 10) throw damaged();
        part[8]! &= ~WEBP_REMARKS;
      }
      kept.push(part);
    }
    at = next;
  }
  if (!kept.some((part) => nameAt(part, 0).startsWith("VP8") || nameAt(part, 0) === "ANMF")) throw damaged();
  const header = new Uint8Array(bytes.subarray(0, 12));
  const size = kept.reduce((sum, part) => sum + part.length, 4);
  new DataView(header.buffer).setUint32(4, size, true);
  return { media_type: "image/webp", bytes: concatBytes([header, ...kept]) };
}

function nameAt(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}

function requireSize(width: number, height: number): void {
  if (width === 0 || height === 0) throw damaged();
  if (width > MAX_SIDE || height > MAX_SIDE) throw importTooLarge(`a picture has at most ${MAX_SIDE} pixels a side`);
}

function damaged(): Error {
  return unknownFormat("the picture is damaged");
}
