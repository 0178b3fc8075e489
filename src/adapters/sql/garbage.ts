import type { Clock, ContentStore, Store } from "../../core/ports.ts";

const PAGE = 1000;
const HEX_RUN = /[0-9a-f]{64,}/g;

/**
 * Removes those of these payloads that no ledger entry names any more, however young; says how many. One walk over the
 * bodies. Every 64 hex digits in a row count as a name, also inside a longer run: too much is kept rather than too little.
 */
export async function removeUnnamed(
  store: Store,
  content: ContentStore,
  clock: Clock,
  hashes: readonly string[],
): Promise<number> {
  const unnamed = new Set(hashes);
  for (let from = 0; unnamed.size > 0; ) {
    const page = await store.read((tx) => tx.ledger.readAll(from, PAGE));
    for (const { entry } of page) dropNamed(entry.body, unnamed);
    if (page.length === 0) break;
    from += page.length;
  }
  let removed = 0;
  for (const hash of unnamed) if (await content.remove(hash, clock.now() + 1)) removed++;
  return removed;
}

function dropNamed(body: string, unnamed: Set<string>): void {
  for (const [run] of body.matchAll(HEX_RUN)) {
    for (let i = 0; i + 64 <= run.length; i++) unnamed.delete(run.slice(i, i + 64));
  }
}
