import type { JsonObject } from "../../../core/canonical/index.ts";
import { isVerbatimError, type VerbatimError } from "../../../core/errors/index.ts";
import { appendRefusal, boundText, boundValue } from "../../../core/ledger/index.ts";
import type { Clock, SyncCrypto } from "../../../core/ports.ts";
import { CONTEXT_RECORDS } from "../contracts/records.ts";
import type { ContextStore } from "../ports.ts";

interface RefusalPorts {
  readonly store: ContextStore;
  readonly crypto: SyncCrypto;
  readonly clock: Clock;
  readonly actor: string;
}

/**
 * Throws what an operation threw; what the contract refuses is recorded first (Catalytic Chat Contract, Error Policy). What
 * cannot be read at all, and a store that cannot be used, leaves no entry.
 */
export async function recordRefusal(
  { store, crypto, clock, actor }: RefusalPorts,
  operation: string,
  input: object,
  thrown: unknown,
): Promise<never> {
  if (!isVerbatimError(thrown) || !isRefusal(thrown)) throw thrown;
  const { code, message, where, details } = thrown;
  const refusal = CONTEXT_RECORDS.make("REFUSED", actor, {
    operation,
    code,
    message: boundText(message),
    ...(where === undefined ? {} : { where: boundText(where) }),
    input: boundValue(crypto, toJson(input)),
    ...(details === undefined ? {} : { details: boundValue(crypto, toJson(details)) }),
  });
  await store.transact(({ ledger }) => appendRefusal(ledger, clock, { stream: "context", ...refusal }, "stream"));
  throw thrown;
}

const UNREAD = /^(?:JSON_|STORE_|FILE_(?:NOT_FOUND|UNREADABLE|TOO_LARGE)$|FOLDER_READ_ONLY$|USAGE$)/;

function isRefusal({ exit, code }: VerbatimError): boolean {
  return (exit === 1 || exit === 2) && !UNREAD.test(code);
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
