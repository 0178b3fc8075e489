import { encodeUtf8, formatCanonical, type JsonObject, type JsonValue } from "../../core/canonical/index.ts";
import { isVerbatimError, type VerbatimError } from "../../core/errors/index.ts";
import type { Clock, LedgerReader, SyncCrypto } from "../../core/ports.ts";
import { parseTime } from "../../core/time.ts";
import type { ContextStore } from "./ports.ts";

export interface RefusalPorts {
  readonly store: ContextStore;
  readonly crypto: SyncCrypto;
  readonly clock: Clock;
  readonly actor: string;
}

const STREAM = "context";
const KIND = "REFUSED";
/** Bytes of canonical JSON up to which a value is recorded whole. */
const MAX_VALUE = 2048;
const MAX_BEGINNING = 512;
const MAX_TEXT = 500;
/** Refusals recorded within the window, counted among the newest entries of the stream. */
const MOST = 64;
const LOOK_BACK = 256;
const WINDOW_MS = 600_000;

/**
 * Runs an operation; what the contract refuses is recorded first and thrown then (Catalytic Chat Contract, Error
 * Policy). What cannot be read at all, and a store that cannot be used, leaves no entry.
 */
export async function recordingRefusals<T>(
  ports: RefusalPorts,
  operation: string,
  input: object,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (thrown) {
    if (isVerbatimError(thrown) && isRefusal(thrown)) await recordRefusal(ports, operation, input, thrown);
    throw thrown;
  }
}

const UNREAD = /^(?:JSON_|STORE_|FILE_(?:NOT_FOUND|UNREADABLE|TOO_LARGE)$|FOLDER_READ_ONLY$|USAGE$)/;

function isRefusal({ exit, code }: VerbatimError): boolean {
  return (exit === 1 || exit === 2) && !UNREAD.test(code);
}

async function recordRefusal(
  { store, crypto, clock, actor }: RefusalPorts,
  operation: string,
  input: object,
  { code, message, where, details }: VerbatimError,
): Promise<void> {
  const body = {
    operation,
    code,
    message: cutText(message),
    ...(where === undefined ? {} : { where: cutText(where) }),
    input: bound(crypto, input),
    ...(details === undefined ? {} : { details: bound(crypto, details) }),
  };
  await store.transact(async ({ ledger }) => {
    const recent = await countRecent(ledger, clock.now() - WINDOW_MS);
    if (recent >= MOST) return;
    // Whoever reads the ledger learns from the last one that more may have followed.
    const last = recent === MOST - 1 ? { more_unrecorded: true } : {};
    await ledger.append(STREAM, "next", [{ kind: KIND, actor, body: { ...body, ...last } }]);
  });
}

/** Refusals since an instant among the newest entries. `head` holds the stream, so two at once count right. */
async function countRecent(ledger: LedgerReader, since: number): Promise<number> {
  const length = ((await ledger.head(STREAM))?.position ?? -1) + 1;
  const newest = await ledger.readStream(STREAM, Math.max(0, length - LOOK_BACK), LOOK_BACK);
  return newest.filter(({ kind, time }) => kind === KIND && parseTime(time) >= since).length;
}

/** A value as it is, or its hash, size and beginning when it is long: whoever has it can still show that it was this. */
function bound(crypto: SyncCrypto, value: object): JsonValue {
  const plain = toJson(value);
  const text = formatCanonical(plain);
  const bytes = encodeUtf8(text);
  if (bytes.length <= MAX_VALUE) return plain;
  return { sha256: crypto.sha256(bytes), bytes: bytes.length, beginning: text.slice(0, MAX_BEGINNING) };
}

/** Without members that are undefined, and with texts that JSON can carry. */
function toJson(value: object): JsonObject {
  return JSON.parse(
    JSON.stringify(value, (_, member: unknown) => {
      if (typeof member === "string") return member.toWellFormed();
      return typeof member === "bigint" ? String(member) : member;
    }),
  ) as JsonObject;
}

function cutText(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT).toWellFormed()}...` : text.toWellFormed();
}
