import { encodeUtf8, formatCanonical, type JsonObject, type JsonValue } from "../canonical/index.ts";
import type { Clock, LedgerReader, LedgerWriter, NewEntry, SyncCrypto } from "../ports.ts";
import { parseTime } from "../time.ts";

/** Bytes of canonical JSON up to which a value is recorded whole. */
const MAX_VALUE = 2048;
const MAX_BEGINNING = 512;
const MAX_TEXT = 500;
/** Refusals of a kind that are recorded within the window, counted among the newest entries. */
const MOST = 64;
const LOOK_BACK = 256;
const WINDOW_MS = 600_000;
/** Nothing is ever appended to it: whoever counts in the whole ledger holds it, so that two at once count right. */
const COUNTED_TOGETHER = "refusals";

export interface Refusal extends Pick<NewEntry, "kind" | "actor" | "body"> {
  readonly stream: string;
}

/**
 * Appends what was refused unless there are enough of its kind already; the last one says that more may have followed.
 * They are counted in their own stream, or in the whole ledger where each refusal has a stream of its own.
 */
export async function appendRefusal(
  ledger: LedgerWriter,
  clock: Clock,
  { stream, kind, actor, body }: Refusal,
  among: "stream" | "ledger",
): Promise<void> {
  const newest = await (among === "stream" ? readNewest(ledger, stream) : readNewestOfAll(ledger));
  const since = clock.now() - WINDOW_MS;
  const recent = newest.filter((entry) => entry.kind === kind && parseTime(entry.time) >= since).length;
  if (recent >= MOST) return;
  const last = recent === MOST - 1 ? { more_unrecorded: true } : {};
  await ledger.append(stream, "next", [{ kind, actor, body: { ...(body as JsonObject), ...last } }]);
}

interface Counted {
  readonly kind: string;
  readonly time: string;
}

/** `head` holds the stream until the transaction ends. */
async function readNewest(ledger: LedgerReader, stream: string): Promise<readonly Counted[]> {
  const length = ((await ledger.head(stream))?.position ?? -1) + 1;
  return ledger.readStream(stream, Math.max(0, length - LOOK_BACK), LOOK_BACK);
}

async function readNewestOfAll(ledger: LedgerReader): Promise<readonly Counted[]> {
  await ledger.head(COUNTED_TOGETHER);
  const length = await ledger.size();
  return (await ledger.readAll(Math.max(0, length - LOOK_BACK), LOOK_BACK)).map(({ entry }) => entry);
}

/** A value as it is, or its hash, size and beginning when it is long: whoever has it can still show that it was this. */
export function boundValue(crypto: SyncCrypto, value: JsonValue): JsonValue {
  const text = formatCanonical(value);
  const bytes = encodeUtf8(text);
  if (bytes.length <= MAX_VALUE) return value;
  return { sha256: crypto.sha256(bytes), bytes: bytes.length, beginning: text.slice(0, MAX_BEGINNING) };
}

export function boundText(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT).toWellFormed()}...` : text.toWellFormed();
}
