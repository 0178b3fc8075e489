import { unknownFormat } from "./refusals.ts";

/** Whether bytes begin like a JPEG. */
export function isJpeg(bytes: Uint8Array): boolean {
  return bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff;
}

/** A part of a JPEG; entropy-coded data belongs to the scan before it. */
interface Segment {
  readonly marker: number;
  readonly from: number;
  readonly end: number;
}

const START = 0xd8;
const END = 0xd9;
const SCAN = 0xda;
const COMMENT = 0xfe;

/** The segments of a JPEG up to its end. */
export function* readSegments(bytes: Uint8Array): Generator<Segment> {
  yield { marker: START, from: 0, end: 2 };
  for (let at = 2; at + 1 < bytes.length; ) {
    const from = at;
    if (bytes[at] !== 0xff) throw damaged();
    while (bytes[at] === 0xff) at++;
    const marker = bytes[at] ?? 0;
    at++;
    if (marker === END) {
      yield { marker, from, end: at };
      return;
    }
    if (marker === 0 || marker === START || isRestart(marker) || at + 2 > bytes.length) throw damaged();
    const length = bytes[at]! * 256 + bytes[at + 1]!;
    at += length;
    if (length < 2 || at > bytes.length) throw damaged();
    if (marker === SCAN) at = skipScan(bytes, at);
    yield { marker, from, end: at };
  }
  throw damaged();
}

/** Where the data of a scan ends: before a marker that is neither a stuffed byte nor a restart. */
function skipScan(bytes: Uint8Array, start: number): number {
  for (let at = start; at + 1 < bytes.length; at++) {
    if (bytes[at] !== 0xff) continue;
    const next = bytes[at + 1]!;
    if (next !== 0 && next !== 0xff && !isRestart(next)) return at;
  }
  throw damaged();
}

function isRestart(marker: number): boolean {
  return marker >= 0xd0 && marker <= 0xd7;
}

/** Whether a segment says something about the picture instead of being part of it. */
export function isRemark(marker: number): boolean {
  return marker === COMMENT || (marker >= 0xe0 && marker <= 0xef);
}

function damaged(): Error {
  return unknownFormat("the image is damaged");
}
