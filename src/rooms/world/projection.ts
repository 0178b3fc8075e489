import { type Cast, nameOf } from "./cast.ts";
import type { LedgerEntry } from "./check/context.ts";
import type { StreamEntry } from "./check/projection-output.ts";
import { isAllowed, type View } from "./gate.ts";
import { invalidCursor } from "./ids.ts";
import { parseInstant } from "./time/instant.ts";

/** Entries after a cursor at most, and entries of a refresh without one. */
export const AFTER_LIMIT = 200;
export const REFRESH_LIMIT = 50;

/** Entries in projection order: by instant, then by ledger order. */
export function inOrder(entries: readonly LedgerEntry[]): LedgerEntry[] {
  return entries
    .map((entry) => ({ entry, ms: parseInstant(entry.created_at_world, "") }))
    .sort((a, b) => a.ms - b.ms || a.entry.wseq - b.entry.wseq)
    .map(({ entry }) => entry);
}

/** The entries a view may see, in the order they were given. */
export function surfaceOf(cast: Cast, view: View, entries: readonly LedgerEntry[]): LedgerEntry[] {
  return entries.filter((entry) => isAllowed(cast, view, entry));
}

/** An entry as the stream shows it: the exact text, a label only on PEOPLE. */
export function toStreamEntry(
  cast: Cast,
  entry: Pick<LedgerEntry, "entry_id" | "created_at_world" | "channel" | "author" | "text">,
): StreamEntry {
  const { entry_id, created_at_world, channel, author, text } = entry;
  const author_label = channel === "PEOPLE" ? nameOf(cast, author.author_id) : null;
  return { entry_id, created_at_world, channel, author_label, text };
}

export interface ProjectionQuery {
  readonly mode: "BEAT" | "NO_OP";
  /** Entry id of the cursor. */
  readonly after: string | null;
  /** The write bundle of this beat. */
  readonly bundle_id: string | null;
  readonly limit: number | null;
}

export interface ProjectedStream {
  readonly entries: readonly StreamEntry[];
  readonly before: string | null;
  readonly after: string | null;
  readonly debug: { readonly wrote: boolean; readonly bundle_id: string | null };
}

/** What an invocation answers a viewer, over entries at hand; cursors are entry ids here. */
export function projectEntries(
  cast: Cast,
  viewer: string,
  entries: readonly LedgerEntry[],
  query: ProjectionQuery,
): ProjectedStream {
  const visible = surfaceOf(cast, { kind: "viewer", id: viewer }, inOrder(entries));
  const shown = select(visible, query);
  const last = shown.at(-1)?.entry_id ?? query.after ?? visible.at(-1)?.entry_id ?? null;
  const wrote = query.bundle_id !== null && visible.some(({ bundle_id }) => bundle_id === query.bundle_id);
  return {
    entries: shown.map((entry) => toStreamEntry(cast, entry)),
    before: query.after,
    after: last,
    debug: { wrote, bundle_id: wrote ? query.bundle_id : null },
  };
}

function select(visible: readonly LedgerEntry[], { mode, after, bundle_id, limit }: ProjectionQuery): LedgerEntry[] {
  if (after !== null) {
    const at = visible.findIndex(({ entry_id }) => entry_id === after);
    if (at < 0) throw invalidCursor();
    return visible.slice(at + 1, at + 1 + (limit ?? AFTER_LIMIT));
  }
  if (mode === "BEAT") return visible.filter((entry) => bundle_id !== null && entry.bundle_id === bundle_id);
  return visible.slice(-(limit ?? REFRESH_LIMIT));
}
