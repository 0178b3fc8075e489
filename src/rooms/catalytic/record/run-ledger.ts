import {
  decodeUtf8,
  encodeUtf8,
  formatCanonical,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from "../../../core/canonical/index.ts";
import { isVerbatimError } from "../../../core/errors/index.ts";
import {
  type EntryHead,
  formatAround,
  formatEntry,
  hashEntry,
  NO_PREVIOUS,
  parseEntry,
  sealEntry,
} from "../../../core/ledger/index.ts";
import type { BodyPiece, Clock, EntryRecord, Hasher, PartedBody, SyncCrypto } from "../../../core/ports.ts";
import { formatTime } from "../../../core/time.ts";
import { toStream } from "../contracts/constants.ts";

/** An entry of a run. The body of the closing one is long and there in parts. */
export interface RunEntry extends EntryRecord {
  readonly parted?: PartedBody;
}

/** Writes the ledger of one run, entry by entry, each chained to the one before. */
export class RunLedger {
  readonly #crypto: SyncCrypto;
  readonly #clock: Clock;
  readonly #stream: string;
  readonly #actor: string;
  readonly #entries: RunEntry[];
  #foreseen: { readonly parts: readonly (string | BodyPiece)[]; readonly running: Hasher } | null = null;

  /** `earlier` continues a ledger that a crash cut short. */
  constructor(crypto: SyncCrypto, clock: Clock, runId: string, actor: string, earlier: readonly EntryRecord[] = []) {
    this.#crypto = crypto;
    this.#clock = clock;
    this.#stream = toStream(runId);
    this.#actor = actor;
    this.#entries = [...earlier];
  }

  get entries(): readonly RunEntry[] {
    return this.#entries;
  }

  /** Adds an entry and returns its line, with the line feed. */
  add(kind: string, body: JsonValue): string {
    const entry = sealEntry(this.#crypto, { ...this.#head(kind), body });
    this.#entries.push(entry);
    return `${formatEntry(entry)}\n`;
  }

  /** Hashes how the body of an entry will probably begin, at a moment when there is nothing else to do. */
  foresee(parts: readonly (string | BodyPiece)[]): void {
    const running = this.#crypto.hasher();
    for (const part of parts) running.update(typeof part === "string" ? encodeUtf8(part) : part.bytes());
    this.#foreseen = { parts, running };
  }

  /** Adds an entry whose canonical body comes in parts, and returns its line in parts. */
  addParted(kind: string, parts: readonly (string | BodyPiece)[]): readonly Uint8Array[] {
    const head = this.#head(kind);
    const bytes = parts.map((part) => (typeof part === "string" ? encodeUtf8(part) : part.bytes()));
    const known = this.#foreseen;
    const isRight = known?.parts.every((part, i) => isSamePart(part, parts[i])) === true;
    const running = isRight ? known!.running : this.#crypto.hasher();
    for (const part of isRight ? bytes.slice(known!.parts.length) : bytes) running.update(part);
    this.#foreseen = null;
    const sha256 = running.digest();
    const entry = { ...head, body_hash: sha256, hash: hashEntry(this.#crypto, head, sha256) };
    // Hardly anyone reads it again, and it may be long.
    const whole = { ...entry, parted: { parts, sha256 }, body: "" };
    this.#entries.push(Object.defineProperty(whole, "body", { get: () => joinParts(parts), enumerable: true }));
    const [before, after] = formatAround(entry);
    return [encodeUtf8(before), ...bytes, encodeUtf8(`${after}\n`)];
  }

  #head(kind: string): EntryHead {
    return {
      stream: this.#stream,
      position: this.#entries.length,
      previous: this.#entries.at(-1)?.hash ?? NO_PREVIOUS,
      kind,
      time: formatTime(this.#clock.now()),
      actor: this.#actor,
    };
  }
}

function isSamePart(a: string | BodyPiece, b: string | BodyPiece | undefined): boolean {
  if (typeof a === "string" || typeof b === "string" || b === undefined) return a === b;
  return a.sha256 === b.sha256;
}

function joinParts(parts: readonly (string | BodyPiece)[]): string {
  return parts.map((part) => (typeof part === "string" ? part : (decodeUtf8(part.bytes()) ?? ""))).join("");
}

export interface RunLedgerCheck {
  readonly ok: boolean;
  /** The first line that is not as it must be. */
  readonly first_bad: number | null;
  /** Hash of the last entry of a good ledger. */
  readonly head: string | null;
  /** The entries up to the first bad one. */
  readonly entries: readonly EntryRecord[];
  /** The bodies of those entries; null for one that was compared as text. */
  readonly bodies: readonly JsonValue[];
  /** Whether the body of the last entry is the one the caller expected. */
  readonly closed_as_known: boolean;
}

/**
 * Checks LEDGER.jsonl: canonical lines, final line feed, positions, chain, stream, `RUN` last and once. A caller who
 * knows what the closing body must be gives its canonical text, and a closing entry with that body is not parsed.
 *
 * @example
 * checkRunLedger(nodeCrypto, "r1", "").ok; // => false
 */
export function checkRunLedger(crypto: SyncCrypto, runId: string, text: string, closing?: string): RunLedgerCheck {
  const lines = text.split("\n");
  const closed = lines.at(-1) === "";
  if (closed) lines.pop();
  const entries: EntryRecord[] = [];
  const bodies: JsonValue[] = [];
  let known = false;
  const bad = (line: number): RunLedgerCheck => ({
    ok: false,
    first_bad: line,
    head: null,
    entries,
    bodies,
    closed_as_known: false,
  });
  if (lines.length === 0) return bad(0);
  for (const [i, line] of lines.entries()) {
    const last = i === lines.length - 1;
    const short = last && closing !== undefined ? withoutBody(line, closing) : null;
    const value = readLine(short ?? line);
    if (value === null) return bad(i);
    const previous = entries.at(-1)?.hash ?? NO_PREVIOUS;
    const entry = toEntry(crypto, toStream(runId), value, previous, i, short === null ? null : closing!);
    if (entry === null || (last && !closed) || (entry.kind === "RUN") !== last) return bad(i);
    entries.push(entry);
    bodies.push(value["body"]!);
    known = short !== null || (last && entry.body === closing);
  }
  return { ok: true, first_bad: null, head: entries.at(-1)!.hash, entries, bodies, closed_as_known: known };
}

/** The line with null for its body, when its body is the given text; the actor before it is a short string. */
function withoutBody(line: string, body: string): string | null {
  const at = line.indexOf(',"body":') + 8;
  if (at < 8 || !line.startsWith(body, at) || !line.startsWith(',"body_hash":', at + body.length)) return null;
  return `${line.slice(0, at)}null${line.slice(at + body.length)}`;
}

function readLine(line: string): JsonObject | null {
  try {
    const value = parseJson(line);
    return isJsonObject(value) && formatCanonical(value) === line ? value : null;
  } catch (thrown) {
    if (isVerbatimError(thrown)) return null;
    throw thrown;
  }
}

function toEntry(
  crypto: SyncCrypto,
  stream: string,
  value: JsonObject,
  previous: string,
  position: number,
  body: string | null = null,
): EntryRecord | null {
  let entry: EntryRecord;
  try {
    entry = parseEntry(value);
  } catch (thrown) {
    if (isVerbatimError(thrown)) return null;
    throw thrown;
  }
  if (entry.stream !== stream || entry.position !== position || entry.previous !== previous) return null;
  const { kind, time, actor } = entry;
  const sealed = sealEntry(crypto, { stream, position, previous, kind, time, actor, body_text: body ?? entry.body });
  return sealed.hash === entry.hash && sealed.body_hash === entry.body_hash ? sealed : null;
}

/** The whole entries of a ledger that a crash may have cut short: what follows the first bad line is left out. */
export function readWholeEntries(crypto: SyncCrypto, runId: string, text: string): EntryRecord[] {
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  const entries: EntryRecord[] = [];
  for (const line of whole.split("\n").slice(0, -1)) {
    const value = readLine(line);
    if (value === null) break;
    const entry = toEntry(crypto, toStream(runId), value, entries.at(-1)?.hash ?? NO_PREVIOUS, entries.length);
    if (entry === null) break;
    entries.push(entry);
  }
  return entries;
}
