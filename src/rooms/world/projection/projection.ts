import type { LedgerEntry } from "../contracts/context.ts";
import type { StreamEntry } from "../contracts/projection-output.ts";
import { type Cast, nameOf } from "../people/cast.ts";

/** Entries after a cursor at most, and entries of a refresh without one. */
export const AFTER_LIMIT = 200;
export const REFRESH_LIMIT = 50;

/** An entry as the stream shows it: the exact text, a label only on PEOPLE. */
export function toStreamEntry(
  cast: Cast,
  entry: Pick<LedgerEntry, "entry_id" | "created_at_world" | "channel" | "author" | "text">,
): StreamEntry {
  const { entry_id, created_at_world, channel, author, text } = entry;
  const author_label = channel === "PEOPLE" ? nameOf(cast, author.author_id) : null;
  return { entry_id, created_at_world, channel, author_label, text };
}
