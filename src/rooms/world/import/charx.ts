import type { Inflater } from "../ports.ts";
import { importTooLarge, unknownFormat } from "./refusals.ts";
import { readZip, unzip } from "./zip.ts";

const CARD = "card.json";
const MAX_CARD_BYTES = 8 * 1024 * 1024;
const MAX_ENTRIES = 10_000;

/** The card of a CHARX archive: only `card.json` is unpacked, and never to more than it says. */
export function readCharxCard(inflater: Inflater, bytes: Uint8Array): Uint8Array {
  const [card, other] = readZip(bytes, MAX_ENTRIES).filter(({ name }) => name === CARD);
  if (card === undefined) throw unknownFormat(`the archive has no ${CARD}`);
  if (other !== undefined) throw unknownFormat(`the archive has ${CARD} twice`);
  if (card.size > MAX_CARD_BYTES) throw importTooLarge(`${CARD} has ${card.size} bytes`);
  return unzip(inflater, bytes, card);
}
