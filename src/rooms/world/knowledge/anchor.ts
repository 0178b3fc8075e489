import type { LedgerEntry } from "../contracts/context.ts";
import { renderLine } from "../contracts/lint.ts";
import type { Cast } from "../people/cast.ts";
import type { Tokenizer } from "../ports.ts";

const MAX_LINES = 8;
const MAX_TOKENS = 1024;

/** How many entries of a scene an anchor can need; more need not be read. */
export const ANCHOR_ENTRIES = MAX_LINES;

/** The opening lines of a scene as a view sees them; null when it sees none that fit. */
export function buildAnchor(
  cast: Cast,
  tokenizer: Tokenizer,
  entries: readonly LedgerEntry[],
): { readonly text: string; readonly used_entry_ids: readonly string[] } | null {
  let text = "";
  let count = 0;
  for (const entry of entries.slice(0, MAX_LINES)) {
    const line = renderLine(cast, entry);
    const longer = count === 0 ? line : `${text}\n${line}`;
    if (tokenizer.count(longer) > MAX_TOKENS) break;
    text = longer;
    count++;
  }
  if (count === 0) return null;
  return { text, used_entry_ids: entries.slice(0, count).map(({ entry_id }) => entry_id) };
}
