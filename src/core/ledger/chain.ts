import { runSteps, type Steps } from "../awaitable.ts";
import { formatCanonical, isHash, isJsonObject, type JsonValue } from "../canonical/index.ts";
import { type Finding, isVerbatimError } from "../errors/index.ts";
import type { Awaitable, Crypto, EntryRecord, StreamHead, SyncCrypto } from "../ports.ts";
import { type EntryHead, formatHashed, NO_PREVIOUS } from "./entry.ts";
import { ERASED_BODY, isErasure } from "./erasure.ts";

/** The first thing that is wrong with a stream. `position` is where the stream should have gone on. */
export interface ChainProblem {
  readonly code: Finding<"ledger">;
  readonly stream: string;
  readonly position: number;
  readonly expected: string;
  readonly actual: string;
}

/** An entry of unknown quality. A body of null has no canonical form; `extra` members are in no hash. */
interface Candidate {
  readonly stream: unknown;
  readonly position: unknown;
  readonly previous: unknown;
  readonly kind: unknown;
  readonly time: unknown;
  readonly actor: unknown;
  readonly body: string | null;
  readonly body_hash: unknown;
  readonly hash: unknown;
  readonly extra?: boolean;
}

/** What a verifier answers: at once when its crypto does. */
type Answer<C extends Crypto> = C extends SyncCrypto ? ChainProblem | null : Awaitable<ChainProblem | null>;

const FIELDS = 9;
const SHOWN = 200;

/**
 * Checks the entries of one stream, given in position order, and stops at the first problem: afterwards every call
 * gives that problem again. Cost: two hashes per entry, memory for one page. With a crypto that answers at once a
 * page is checked without a microtask; otherwise wait for one call before making the next.
 */
export class StreamVerifier<C extends Crypto = Crypto> {
  readonly #crypto: C;
  readonly #stream: string;
  #position: number;
  #previous: string;
  #problem: ChainProblem | null = null;
  /** A body that is gone without a record of its erasure so far. */
  #erased: ChainProblem | null = null;

  /** `after` continues behind an entry that was verified before. */
  constructor(crypto: C, stream: string, after?: StreamHead) {
    this.#crypto = crypto;
    this.#stream = stream;
    this.#position = after === undefined ? 0 : after.position + 1;
    this.#previous = after === undefined ? NO_PREVIOUS : after.hash;
  }

  /** The first problem so far. */
  get problem(): ChainProblem | null {
    return this.#erased ?? this.#problem;
  }

  /** The last entry that was found good; null when there is none yet. */
  get head(): StreamHead | null {
    return this.#position === 0 ? null : { position: this.#position - 1, hash: this.#previous };
  }

  /** Checks entries as a store keeps them: the body is text, and that text is what was hashed. */
  acceptRecords(entries: readonly EntryRecord[]): Answer<C> {
    return runSteps(this.#accept(entries, (entry) => entry)) as Answer<C>;
  }

  /** Checks entries as they are written out: the body is a value. A malformed entry is a problem, never a throw. */
  acceptExported(entries: readonly JsonValue[]): Answer<C> {
    return runSteps(this.#accept(entries, toCandidate)) as Answer<C>;
  }

  *#accept<T>(items: readonly T[], read: (item: T) => Candidate): Steps<ChainProblem | null> {
    for (let i = 0; i < items.length && this.#problem === null; i++) {
      const entry = read(items[i]!);
      if (entry.stream !== this.#stream) {
        return this.#fail("LEDGER_STREAM_MISMATCH", this.#stream, entry.stream);
      }
      if (entry.position !== this.#position) {
        return this.#fail("LEDGER_POSITION_GAP", this.#position, entry.position);
      }
      if (entry.previous !== this.#previous) {
        return this.#fail("LEDGER_CHAIN_BROKEN", this.#previous, entry.previous);
      }
      if (entry.body === null) return this.#fail("LEDGER_BODY_MISMATCH", "a JSON value", "a value without JSON form");
      const hashed = this.#crypto.sha256(entry.body);
      let bodyHash = typeof hashed === "string" ? hashed : ((yield hashed) as string);
      if (bodyHash !== entry.body_hash) {
        const stays = entry.body_hash;
        if (entry.body !== ERASED_BODY || typeof stays !== "string" || !isHash(stays)) {
          return this.#fail("LEDGER_BODY_MISMATCH", bodyHash, stays);
        }
        this.#erased ??= this.#describe("LEDGER_BODY_MISMATCH", bodyHash, stays);
        bodyHash = stays;
      }
      if (!isHashable(entry)) return this.#fail("LEDGER_HASH_MISMATCH", "the nine fields", "something else");
      const sealed = this.#crypto.sha256(formatHashed(entry, bodyHash));
      const hash = typeof sealed === "string" ? sealed : ((yield sealed) as string);
      if (hash !== entry.hash) return this.#fail("LEDGER_HASH_MISMATCH", hash, entry.hash);
      if (isErasure(entry)) this.#erased = null;
      this.#position++;
      this.#previous = hash;
    }
    return this.problem;
  }

  #fail(code: Finding<"ledger">, expected: string | number, actual: unknown): ChainProblem | null {
    this.#problem = this.#describe(code, expected, actual);
    return this.problem;
  }

  #describe(code: Finding<"ledger">, expected: string | number, actual: unknown): ChainProblem {
    const at = { stream: this.#stream, position: this.#position };
    return { code, ...at, expected: String(expected), actual: show(actual) };
  }
}

/** Whether the hash covers all there is: texts that are not well formed hash like others, extra members not at all. */
function isHashable(entry: Candidate): entry is Candidate & EntryHead {
  const { kind, time, actor } = entry;
  if (entry.extra === true) return false;
  if (typeof kind !== "string" || typeof time !== "string" || typeof actor !== "string") return false;
  return kind.isWellFormed() && time.isWellFormed() && actor.isWellFormed();
}

function toCandidate(value: JsonValue): Candidate {
  const entry = isJsonObject(value) ? value : {};
  const { stream, position, previous, kind, time, actor, body_hash, hash }: Readonly<Record<string, unknown>> = entry;
  const extra = Object.keys(entry).length > FIELDS;
  return { stream, position, previous, kind, time, actor, body: toBodyText(entry["body"]), body_hash, hash, extra };
}

function toBodyText(body: unknown): string | null {
  try {
    return formatCanonical(body);
  } catch (thrown) {
    if (isVerbatimError(thrown) && thrown.code === "JSON_UNSUPPORTED_VALUE") return null;
    throw thrown;
  }
}

/** A foreign value for a report: short texts and numbers as they are, of anything else only what it is. */
function show(value: unknown): string {
  if (typeof value === "string") return value.length > SHOWN ? `${value.slice(0, SHOWN).toWellFormed()}...` : value;
  if (typeof value === "number" || typeof value === "bigint") return String(value).slice(0, SHOWN);
  return value === undefined ? "missing" : value === null ? "null" : typeof value;
}
