import { VerbatimError } from "../../core/errors/index.ts";
import type { SyncCrypto } from "../../core/ports.ts";
import { encodeBase64 } from "../../core/trust/base64.ts";

/** What makes ids of one world: its id and 32 random bytes from its first record. */
export interface WorldKey {
  readonly world_id: string;
  readonly key: Uint8Array;
}

const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";

/** Lower-case base32 (RFC 4648) without padding. */
function toBase32(bytes: Uint8Array): string {
  let text = "";
  let bits = 0;
  let held = 0;
  for (let i = 0; i < bytes.length; i++) {
    held = (held << 8) | bytes[i]!;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += BASE32[(held >> bits) & 31];
    }
  }
  if (bits > 0) text += BASE32[(held << (5 - bits)) & 31];
  return text;
}

function keyed(crypto: SyncCrypto, world: WorldKey, what: string): Uint8Array {
  return crypto.hmacSha256(world.key, what);
}

/** Id of an entry. A keyed hash: a number would let a viewer count what is hidden. */
export function toEntryId(crypto: SyncCrypto, world: WorldKey, wseq: number): string {
  return `e_${toBase32(keyed(crypto, world, `entry\n${world.world_id}\n${wseq}`).subarray(0, 10))}`;
}

/** Id of the n-th write bundle. */
export function toBundleId(crypto: SyncCrypto, world: WorldKey, n: number): string {
  return `b_${toBase32(keyed(crypto, world, `bundle\n${world.world_id}\n${n}`).subarray(0, 10))}`;
}

/** Makes the ids of numbers in a row and remembers some more of them for each key. */
function makeAhead(
  toId: typeof toEntryId,
): (crypto: SyncCrypto, world: WorldKey, from: number, count: number) => readonly string[] {
  const made = new WeakMap<Uint8Array, { readonly world_id: string; readonly from: number; readonly ids: string[] }>();
  return (crypto, world, from, count) => {
    let known = made.get(world.key);
    if (known?.world_id !== world.world_id || from < known.from || from + count > known.from + known.ids.length) {
      const ids: string[] = [];
      for (let i = 0; i < Math.max(count, AHEAD); i++) ids.push(toId(crypto, world, from + i));
      known = { world_id: world.world_id, from, ids };
      made.set(world.key, known);
    }
    return known.ids.slice(from - known.from, from - known.from + count);
  };
}

// Ids are made faster in a row than one by one between other work, and the next lines will need theirs.
const AHEAD = 48;

/** Ids of consecutive entries, and of consecutive write bundles. */
export const toEntryIds = makeAhead(toEntryId);
export const toBundleIds = makeAhead(toBundleId);

/** Id of the n-th calendar item. Items have audiences too, so their number is nobody's business either. */
export function toItemId(crypto: SyncCrypto, world: WorldKey, n: number): string {
  return `k_${toBase32(keyed(crypto, world, `item\n${world.world_id}\n${n}`).subarray(0, 10))}`;
}

/** Id of the n-th message. */
export function toMessageId(crypto: SyncCrypto, world: WorldKey, n: number): string {
  return `m_${toBase32(keyed(crypto, world, `message\n${world.world_id}\n${n}`).subarray(0, 10))}`;
}

/** The place after an entry, for one viewer. */
export function makeCursor(crypto: SyncCrypto, world: WorldKey, viewer: string, entryId: string): string {
  const mac = keyed(crypto, world, `cursor\n${world.world_id}\n${viewer}\n${entryId}`).subarray(0, 12);
  return `c1.${entryId}.${encodeBase64(mac).replaceAll("+", "-").replaceAll("/", "_")}`;
}

/** The entry a cursor names, if the cursor was made for this world and viewer, or null. */
export function readCursor(crypto: SyncCrypto, world: WorldKey, viewer: string, cursor: string): string | null {
  const entryId = /^c1\.(e_[a-z2-7]{16})\.[A-Za-z0-9_-]{16}$/.exec(cursor)?.[1];
  if (entryId === undefined) return null;
  return isEqual(makeCursor(crypto, world, viewer, entryId), cursor) ? entryId : null;
}

/** A place in a list: the item that was seen last, for one viewer and one question. */
export function makeNext(crypto: SyncCrypto, world: WorldKey, scope: readonly string[], item: string): string {
  return `n1.${item}.${placeMac(crypto, world, scope, item)}`;
}

/** The item that a place names, if it was made for this question and viewer, or null. */
export function readNext(crypto: SyncCrypto, world: WorldKey, scope: readonly string[], next: string): string | null {
  const [, item, mac] = /^n1\.([A-Za-z0-9_:.-]{1,128})\.([A-Za-z0-9_-]{16})$/.exec(next) ?? [];
  if (item === undefined || mac === undefined) return null;
  return isEqual(placeMac(crypto, world, scope, item), mac) ? item : null;
}

function placeMac(crypto: SyncCrypto, world: WorldKey, scope: readonly string[], item: string): string {
  const mac = keyed(crypto, world, `next\n${world.world_id}\n${JSON.stringify([...scope, item])}`).subarray(0, 12);
  return encodeBase64(mac).replaceAll("+", "-").replaceAll("/", "_");
}

/** The one answer to a cursor that does not hold, whatever the reason. */
export function invalidCursor(where = "/ui/stream_cursor"): VerbatimError {
  return new VerbatimError("CURSOR_INVALID", { where });
}

/** Compares without telling by time where two texts of one length differ. */
function isEqual(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);
  return difference === 0;
}
