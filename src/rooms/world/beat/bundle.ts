import type { SyncCrypto } from "../../../core/ports.ts";
import type { WriteEntry } from "../contracts/entry.ts";
import { NOT_REJECTED, type WriteBundle } from "../contracts/write-bundle.ts";
import { keyOf, type WorldState } from "../history/state.ts";
import { toBundleIds, toEntryIds } from "../ids.ts";
import type { AcceptedLine } from "../writer/output.ts";

interface BundleParts {
  readonly request_id: string;
  readonly created_at_world: string;
  readonly proposed_by: { readonly engine: string; readonly actor: string };
  readonly lines: readonly AcceptedLine[];
}

/** The committed write bundle of some lines: ids, times and request id are given here and nowhere else. */
export function toWriteBundle(crypto: SyncCrypto, state: WorldState, parts: BundleParts): WriteBundle | null {
  if (parts.lines.length === 0) return null;
  const key = keyOf(state);
  const bundleId = toBundleIds(crypto, key, state.next_bundle, 1)[0]!;
  const entryIds = toEntryIds(crypto, key, state.next_wseq, parts.lines.length);
  const entries = parts.lines.map(
    ({ author, channel, text, visibility }, i): WriteEntry => ({
      entry_id: entryIds[i]!,
      bundle_id: bundleId,
      request_id: parts.request_id,
      created_at_world: parts.created_at_world,
      author: { author_id: author.author_id, author_class: author.author_class },
      visibility: { scope: visibility.scope, visible_to: [...visibility.visible_to] },
      channel,
      text,
    }),
  );
  return {
    bundle_id: bundleId,
    request_id: parts.request_id,
    proposed_by: parts.proposed_by,
    entries,
    wrote: true,
    rejection: NOT_REJECTED,
  };
}
