import { VerbatimError } from "../../core/errors/index.ts";
import { type EntryHead, hashEntry, NO_PREVIOUS, sealEntry } from "../../core/ledger/entry.ts";
import type {
  Clock,
  EntryRecord,
  ExpectedPosition,
  NewEntry,
  PartedBody,
  StreamHead,
  SyncCrypto,
} from "../../core/ports.ts";
import { formatTime } from "../../core/time.ts";
import { type StoredBody, textOf, toStoredBody } from "./pieces.ts";

/** An entry that is about to be written, with the form its body is kept in where that is not its text. */
export interface SealedEntry extends EntryRecord {
  readonly stored?: StoredBody;
}

/**
 * Seals the entries that follow a stream's head, whose lock the caller holds. Nothing is written yet, so an
 * unexpected position or an entry that breaks the rules of the envelope leaves nothing behind.
 */
export function sealNext(
  ports: { readonly crypto: SyncCrypto; readonly clock: Clock },
  place: { readonly stream: string; readonly head: StreamHead | null; readonly expected: ExpectedPosition },
  entries: readonly NewEntry[],
): SealedEntry[] {
  const { stream, head, expected } = place;
  let position = head === null ? 0 : head.position + 1;
  let previous = head === null ? NO_PREVIOUS : head.hash;
  if (expected !== "next" && expected !== position) {
    throw new VerbatimError("LEDGER_POSITION_CONFLICT", {
      message: `the next position of ${stream} is ${position}, not ${expected}`,
      where: stream,
      details: { stream, expected, next: position },
    });
  }
  const now = timeAt(ports.clock.now());
  return entries.map(({ kind, actor, body, body_text, body_parts, time = now }) => {
    const given = body_text === undefined ? { body } : { body_text };
    const entry =
      body_parts === undefined
        ? sealEntry(ports.crypto, { stream, position, previous, kind, time, actor, ...given })
        : sealParted(ports.crypto, { stream, position, previous, kind, time, actor }, body_parts);
    position++;
    previous = entry.hash;
    return entry;
  });
}

function sealParted(crypto: Pick<SyncCrypto, "sha256">, head: EntryHead, body: PartedBody): SealedEntry {
  const { sha256, parts } = body;
  const entry = {
    ...head,
    body_hash: sha256,
    hash: hashEntry(crypto, head, sha256),
    stored: toStoredBody(body),
    body: "",
  };
  // Long, and wanted by nobody who appends.
  return Object.defineProperty(entry, "body", { get: () => parts.map(textOf).join(""), enumerable: true });
}

const last = { ms: Number.NaN, text: "" };

/** Many appends fall into one millisecond; its text is made once. */
function timeAt(ms: number): string {
  if (ms !== last.ms) {
    last.text = formatTime(ms);
    last.ms = ms;
  }
  return last.text;
}
