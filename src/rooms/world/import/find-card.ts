import type { Inflater } from "../ports.ts";
import { readCharxCard } from "./charx.ts";
import { isJpeg, readSegments } from "./jpeg.ts";
import { findPngCard, isPng, readChunks, readPngCard } from "./png.ts";
import { unknownFormat } from "./refusals.ts";
import { findArchive, isZip } from "./zip.ts";

/** The text inside a file, and the picture it came in. */
interface Found {
  readonly json: Uint8Array;
  readonly picture: Uint8Array | null;
}

/** What a file holds: text, a card in an image, one in an archive, or one in an archive behind an image. */
export function findCard(inflater: Inflater, bytes: Uint8Array, rules: 1 | 2): Found {
  if (isZip(bytes)) return { json: readCharxCard(inflater, bytes), picture: null };
  if (rules === 1) return { json: isPng(bytes) ? readPngCard(inflater, bytes) : bytes, picture: null };
  if (!isPng(bytes) && !isJpeg(bytes)) return { json: bytes, picture: null };
  const end = findEnd(bytes);
  const picture = bytes.subarray(0, end);
  const own = isPng(bytes) ? findPngCard(inflater, picture) : null;
  const rest = bytes.subarray(end);
  const start = findArchive(rest);
  if (start === null) {
    if (own === null) throw unknownFormat("the image contains no card");
    return { json: own, picture };
  }
  if (start !== 0 || !isZip(rest))
    throw unknownFormat("there is something between the image and the archive behind it");
  // Two readers could see two cards.
  if (own !== null) throw unknownFormat("the image and the archive behind it both contain a card");
  return { json: readCharxCard(inflater, rest), picture };
}

/** Where an image ends. */
function findEnd(bytes: Uint8Array): number {
  let end = 0;
  for (const part of isPng(bytes) ? readChunks(bytes) : readSegments(bytes)) end = part.end;
  return end;
}
