import { runSteps, type Steps } from "../awaitable.ts";
import { formatCanonical, formatString, isHash, type JsonValue } from "../canonical/index.ts";
import { type Code, VerbatimError } from "../errors/index.ts";
import {
  COUNT,
  checkMembers,
  describeProblems,
  type FieldProblem,
  HASH,
  type MemberRule,
  TEXT,
  textRule,
} from "../members.ts";
import type { Awaitable, Crypto, EntryRecord, SyncCrypto } from "../ports.ts";
import { isTime } from "../time.ts";

/** `previous` of the first entry of a stream. */
export const NO_PREVIOUS = "0".repeat(64);

/** What is known of an entry before it is sealed. */
export interface EntryHead {
  readonly stream: string;
  readonly position: number;
  readonly previous: string;
  readonly kind: string;
  readonly time: string;
  readonly actor: string;
}

/** The body as a value, or as canonical JSON text that its caller has just made. */
export type EntryParts = EntryHead & ({ readonly body: JsonValue } | { readonly body_text: string });

const CONTROL = /\p{Cc}/u;
const KIND = /^[A-Z][A-Z0-9_]*$/;

const isName = (text: unknown): boolean =>
  typeof text === "string" && text !== "" && !CONTROL.test(text) && text.isWellFormed();
const isKind = (text: string): boolean => KIND.test(text);

const NAME: MemberRule = {
  must: "must be a non-empty text without control characters and without half of a surrogate pair",
  type: TEXT.type,
  value: isName,
};

const HEAD_RULES: Readonly<Record<keyof EntryHead, MemberRule>> = {
  stream: NAME,
  position: COUNT,
  previous: HASH,
  kind: textRule("must be upper-case letters, digits and _, starting with a letter", isKind),
  time: textRule("must be a time like 2025-01-02T03:04:05.000Z", isTime),
  actor: NAME,
};

const ENTRY_RULES = {
  ...HEAD_RULES,
  body: { must: "must be a JSON value", type: () => true },
  body_hash: HASH,
  hash: HASH,
} as const satisfies Record<keyof EntryRecord, MemberRule>;

/**
 * Makes an entry out of its parts: canonical body, body hash, entry hash. With a crypto that answers at once the
 * entry is there at once. Throws LEDGER_ENTRY_INVALID when a part breaks the rules of the envelope.
 */
export function sealEntry(crypto: SyncCrypto, parts: EntryParts): EntryRecord;
export function sealEntry(crypto: Crypto, parts: EntryParts): Awaitable<EntryRecord>;
export function sealEntry(crypto: Crypto, parts: EntryParts): Awaitable<EntryRecord> {
  const { stream, position, previous, kind, time, actor } = parts;
  const head: EntryHead = { stream, position, previous, kind, time, actor };
  if (!isHead(head)) refuseHead(head);
  const body = "body_text" in parts ? parts.body_text : formatCanonical(parts.body);
  // Every durable append waits for this, so a crypto that answers at once is spared the generator.
  const hashed = crypto.sha256(body);
  if (typeof hashed !== "string") return runSteps(sealSteps(crypto, head, body, hashed));
  const hash = crypto.sha256(formatHashed(head, hashed));
  if (typeof hash !== "string") return runSteps(sealSteps(crypto, head, body, hashed));
  return { stream, position, previous, kind, time, actor, body, body_hash: hashed, hash };
}

/** The hash of an entry whose body is hashed already. Throws LEDGER_ENTRY_INVALID as `sealEntry` does. */
export function hashEntry(crypto: Pick<SyncCrypto, "sha256">, head: EntryHead, bodyHash: string): string {
  if (!isHead(head)) refuseHead(head);
  return crypto.sha256(formatHashed(head, bodyHash));
}

/** Whether every part keeps its rule; only when one does not are the problems worth collecting. */
function isHead(head: EntryHead): boolean {
  return (
    isName(head.stream) &&
    isName(head.actor) &&
    isKind(head.kind) &&
    isHash(head.previous) &&
    isTime(head.time) &&
    Number.isSafeInteger(head.position) &&
    head.position >= 0
  );
}

function refuseHead(head: EntryHead): never {
  const problems: FieldProblem[] = [];
  checkMembers(head, "", HEAD_RULES, problems);
  refuse("LEDGER_ENTRY_INVALID", problems);
}

function* sealSteps(crypto: Crypto, head: EntryHead, body: string, hashed: Awaitable<string>): Steps<EntryRecord> {
  const bodyHash = typeof hashed === "string" ? hashed : ((yield hashed) as string);
  const sealed = crypto.sha256(formatHashed(head, bodyHash));
  const hash = typeof sealed === "string" ? sealed : ((yield sealed) as string);
  return { ...head, body, body_hash: bodyHash, hash };
}

/** The text whose SHA-256 is the hash of an entry. No part may hold a line feed; `sealEntry` sees to that. */
export function formatHashed(head: EntryHead, bodyHash: string): string {
  return `verbatim-entry-v1\n${head.stream}\n${head.position}\n${head.previous}\n${head.kind}\n${head.time}\n${head.actor}\n${bodyHash}`;
}

/** An entry as one line of canonical JSON, without the line feed. The body is put in as it is: it is canonical. */
export function formatEntry(entry: EntryRecord): string {
  const [before, after] = formatAround(entry);
  return before + entry.body + after;
}

/** The same without the body: what comes before it and what comes after it. */
export function formatAround(entry: Omit<EntryRecord, "body">): readonly [before: string, after: string] {
  const { actor, body_hash, hash, kind, position, previous, stream, time } = entry;
  return [
    `{"actor":${formatString(actor)},"body":`,
    `,"body_hash":"${body_hash}","hash":"${hash}","kind":${formatString(kind)},"position":${position},"previous":"${previous}","stream":${formatString(stream)},"time":"${time}"}`,
  ];
}

/**
 * Reads an entry that was written out: exactly the nine fields, each in its form, else LEDGER_ENTRY_MALFORMED with
 * every problem. Whether the hashes are right is what `StreamVerifier` finds out.
 */
export function parseEntry(value: JsonValue): EntryRecord {
  const problems: FieldProblem[] = [];
  if (!checkMembers<EntryRecord>(value, "", ENTRY_RULES, problems) || problems.length > 0) {
    refuse("LEDGER_ENTRY_MALFORMED", problems);
  }
  const { stream, position, previous, kind, time, actor, body, body_hash, hash } = value;
  return { stream, position, previous, kind, time, actor, body: formatCanonical(body), body_hash, hash };
}

function refuse(code: Code, problems: readonly FieldProblem[]): never {
  throw new VerbatimError(code, {
    message: describeProblems("the ledger entry is not well formed", problems),
    where: problems[0]!.pointer,
    details: { problems },
  });
}
