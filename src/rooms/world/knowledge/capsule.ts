import { hashCanonical, utf8Length } from "../../../core/canonical/index.ts";
import type { SyncCrypto } from "../../../core/ports.ts";
import type { LedgerEntry } from "../contracts/context.ts";
import type { CapsulePack } from "../contracts/packs.ts";
import type { Graphemes } from "../ports.ts";
import { SEARCH_EXCERPT, toExcerpt } from "../retrieval/excerpt.ts";
import type { View } from "./gate.ts";

export const CAPSULE_BYTES = 8192;

interface CapsuleParts {
  readonly person: string;
  readonly view: View;
  readonly created_at_world: string;
  readonly max_bytes: number;
  /** Entries by the person that the view may see, newest first. */
  readonly newest: Iterable<LedgerEntry>;
}

/** Quotes a person's newest visible lines, oldest first. Nothing is invented for someone without lines. */
export function buildCapsule(crypto: SyncCrypto, graphemes: Graphemes, parts: CapsuleParts): CapsulePack {
  const taken: { readonly id: string; readonly excerpt: string }[] = [];
  let bytes = 0;
  for (const entry of parts.newest) {
    const excerpt = toExcerpt(graphemes, entry.text, SEARCH_EXCERPT);
    bytes += utf8Length(excerpt);
    if (bytes > parts.max_bytes) break;
    taken.push({ id: entry.entry_id, excerpt });
  }
  taken.reverse();
  const ids = taken.map(({ id }) => id);
  const hash = hashCanonical(crypto, { person: parts.person, view: parts.view, used_entry_ids: ids });
  return {
    capsule_id: `cap:${parts.person}:${hash.slice(0, 16)}`,
    person_id: parts.person,
    created_at_world: parts.created_at_world,
    sections: [
      {
        name: "SOURCE_EXCERPTS",
        text: taken.map(({ excerpt }) => excerpt).join("\n"),
        provenance: { used_entry_ids: ids },
      },
    ],
  };
}
