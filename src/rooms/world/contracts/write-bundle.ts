import type { JsonValue } from "../../../core/canonical/index.ts";
import { readMember } from "../../../core/contracts/index.ts";
import { type CheckContext, type Position, requestId } from "./context.ts";
import { checkEntry, ledgerId, saysNothing, type WriteEntry } from "./entry.ts";
import { boolean, optional, readObject, refuse, requireArray, required, text, withDefault } from "./fields.ts";

const MAX_BUNDLE_ENTRIES = 32;
export const MAX_IMPORT_ENTRIES = 10_000;

export interface Rejection {
  readonly rejected: boolean;
  readonly reason: string | null;
}

/** A write bundle whose shape and rules were checked. */
export interface WriteBundle {
  readonly bundle_id: string | null;
  readonly request_id: string;
  readonly proposed_by: { readonly engine: string; readonly actor: string };
  readonly entries: readonly WriteEntry[];
  readonly wrote: boolean;
  readonly rejection: Rejection;
}

export const NOT_REJECTED: Rejection = { rejected: false, reason: null };

/** Reads the rejection of a write bundle; one that says nothing means: not rejected. */
export const rejection = withDefault(
  (value: JsonValue, where: string): Rejection =>
    saysNothing(value, ["rejected", "reason"])
      ? NOT_REJECTED
      : readObject(value, where, { rejected: required(boolean), reason: optional(text()) }),
  () => NOT_REJECTED,
);

/**
 * World Contracts 2: the atomic commit unit.
 *
 * @example
 * import { readFile } from "node:fs/promises";
 * import { parseJson } from "verbatim-agent";
 *
 * declare const context: Parameters<typeof checkWriteBundle>[1];
 * const bundle = checkWriteBundle(parseJson(await readFile("bundle.json")), context);
 */
export function checkWriteBundle(
  value: JsonValue,
  context: CheckContext & { readonly max_entries?: number },
): WriteBundle {
  const bundle = readObject(value, "", {
    bundle_id: ledgerId(context.position),
    request_id: required(requestId(context)),
    proposed_by: required((by, where) =>
      readObject(by, where, {
        engine: required(text({ maxBytes: 64 })),
        actor: required(text({ maxBytes: 128 })),
      }),
    ),
    entries: required((list, where) => readEntries(list, where, context, value)),
    wrote: required(boolean),
    rejection,
  });
  requireBundleRules(bundle, context.position);
  return bundle;
}

function readEntries(
  value: JsonValue,
  where: string,
  context: CheckContext & { readonly max_entries?: number },
  bundle: JsonValue,
): readonly WriteEntry[] {
  const items = requireArray(value, where);
  const max = context.max_entries ?? MAX_BUNDLE_ENTRIES;
  if (items.length > max) refuse("BUNDLE_TOO_MANY_ENTRIES", where, `has ${items.length} entries; the limit is ${max}`);
  const { bundle_id: bundleId } = bundle as { readonly bundle_id?: JsonValue };
  const ids = new Set<string | null>();
  return items.map((item, i) => {
    const at = `${where}/${i}`;
    const entry = checkEntry(item, context, at);
    if (context.position === "committed") {
      if (entry.bundle_id !== bundleId)
        refuse("BUNDLE_ID_MISMATCH", `${at}/bundle_id`, "names a different write bundle");
      if (ids.has(entry.entry_id)) refuse("ENTRY_ID_DUPLICATE", `${at}/entry_id`, "appears twice");
      ids.add(entry.entry_id);
    }
    return entry;
  });
}

/** Where a write bundle on its own stands: only the ledger gives ids, and a rejection says so itself. */
export function positionOf(bundle: JsonValue): Position {
  if ((readMember(bundle, "bundle_id") ?? null) !== null) return "committed";
  return readMember(readMember(bundle, "rejection"), "rejected") === true ? "rejected" : "proposal";
}

function requireBundleRules(bundle: WriteBundle, position: CheckContext["position"]): void {
  const count = bundle.entries.length;
  // World Contracts 2: a rejected write bundle changes nothing, whatever it wanted to write.
  const wrote = position === "rejected" ? false : count > 0;
  if (bundle.wrote !== wrote || (position === "committed" && !bundle.wrote)) {
    const was = position === "rejected" ? "in a rejected write bundle" : `with ${count} entries`;
    refuse("BUNDLE_WROTE_MISMATCH", "/wrote", `is ${bundle.wrote} ${was}`);
  }
  const { rejected, reason } = bundle.rejection;
  if (position === "rejected" && !rejected) refuse("FIELD_VALUE", "/rejection/rejected", "must be true");
  if (rejected && (wrote || bundle.bundle_id !== null)) {
    refuse("BUNDLE_REJECTED_WITH_EFFECT", "/rejection/rejected", "a rejected write bundle must have no effect");
  }
  if (rejected && reason === null) refuse("FIELD_MISSING", "/rejection/reason", "is required");
  if (!rejected && reason !== null) refuse("BUNDLE_REASON_UNEXPECTED", "/rejection/reason", "must be null");
}
