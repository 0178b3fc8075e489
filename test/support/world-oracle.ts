import type { LedgerEntry } from "../../src/rooms/world/contracts/context.ts";

// What the World Contracts say of entries at hand, written down once more and without the product's own functions.

const NAMES: Readonly<Record<string, string>> = { ANA: "Ana", BEN: "Ben" };

/** The entries a viewer may know of, in the order of the ledger. */
export function knownTo(viewer: string, entries: readonly LedgerEntry[]): LedgerEntry[] {
  return entries.filter(({ visibility: { scope, visible_to } }) => scope === "PUBLIC" || visible_to.includes(viewer));
}

/** An entry on a screen. */
export function onScreen({ entry_id, created_at_world, channel, author, text }: LedgerEntry) {
  const author_label = channel === "PEOPLE" ? NAMES[author.author_id]! : null;
  return { entry_id, created_at_world, channel, author_label, text };
}

/** What a beat answers a viewer who holds a cursor or none. */
export function answerOf(viewer: string, entries: readonly LedgerEntry[], after: string | null, bundle: string | null) {
  const known = knownTo(viewer, entries);
  const own = known.filter(({ bundle_id }) => bundle !== null && bundle_id === bundle);
  const shown =
    after === null ? own : known.slice(known.findIndex(({ entry_id }) => entry_id === after) + 1).slice(0, 200);
  const last = shown.at(-1)?.entry_id ?? after ?? known.at(-1)?.entry_id ?? null;
  const wrote = own.length > 0;
  return { entries: shown.map(onScreen), last, debug: { wrote, bundle_id: wrote ? bundle : null } };
}

/** Ids of what a viewer finds: most of the words first, then the newest. Words are parted by single spaces. */
export function foundBy(viewer: string, entries: readonly LedgerEntry[], words: readonly string[], limit: number) {
  return knownTo(viewer, entries)
    .map(({ entry_id, text }, at) => ({
      entry_id,
      at,
      held: words.filter((word) => text.split(" ").includes(word)).length,
    }))
    .filter(({ held }) => held > 0)
    .sort((a, b) => b.held - a.held || b.at - a.at)
    .slice(0, limit)
    .map(({ entry_id }) => entry_id);
}

/** The beginning of a text within so many bytes, for texts whose characters are single code points. */
export function beginningOf(text: string, bytes: number): string {
  let end = "";
  for (const character of text) {
    if (Buffer.byteLength(end + character) > bytes) return end;
    end += character;
  }
  return end;
}
