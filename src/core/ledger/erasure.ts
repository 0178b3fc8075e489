import { isJsonObject, parseJson } from "../canonical/index.ts";

/** What stands where a body was, once what its stream tells was erased. Its hash stays, so chain and proofs hold. */
export const ERASED_BODY = "null";

const ERASURES: ReadonlySet<unknown> = new Set(["WORLD_DELETED"]);

/** Whether an entry vouches for the erasure of every body before it in its stream. */
export function isErasure(entry: {
  readonly kind: unknown;
  readonly position: unknown;
  readonly body: string | null;
}): boolean {
  if (!ERASURES.has(entry.kind) || entry.body === null) return false;
  const body = parseJson(entry.body);
  return isJsonObject(body) && body["erased_below"] === entry.position;
}
