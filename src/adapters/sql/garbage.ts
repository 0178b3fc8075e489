import type { Clock, ContentStore, Store } from "../../core/ports.ts";

interface GarbageOptions {
  readonly clock: Clock;
  /** Payloads stored less than this ago stay: their ledger entry may still be on its way. */
  readonly graceMs: number;
}

interface GarbageReport {
  /** Payloads that a ledger entry names. */
  readonly referenced: number;
  /** Payloads that no entry names but that are too young to go. */
  readonly young: number;
  readonly removed: number;
}

const PAGE = 1000;
const HEX_RUN = /[0-9a-f]{64,}/g;

/**
 * Removes payloads that no ledger entry names. One walk over the bodies; memory for the hashes of the payloads.
 * Every 64 hex digits in a row count as a name, also inside a longer run: too much is kept rather than too little.
 */
export async function collectGarbage(
  store: Store,
  content: ContentStore,
  { clock, graceMs }: GarbageOptions,
): Promise<GarbageReport> {
  const storedBefore = clock.now() - graceMs;
  const unnamed = new Set<string>();
  for await (const hash of content.list()) unnamed.add(hash);
  const stored = unnamed.size;
  for (let from = 0; unnamed.size > 0; ) {
    const page = await store.read((door) => door.ledger.readAll(from, PAGE));
    for (const { entry } of page) dropNamed(entry.body, unnamed);
    if (page.length === 0) break;
    from += page.length;
  }
  const candidates = unnamed.size;
  let removed = 0;
  for (const hash of unnamed) if (await content.remove(hash, storedBefore)) removed++;
  return { referenced: stored - candidates, young: candidates - removed, removed };
}

/** Removes those of these payloads that no ledger entry names any more, however young; says how many. */
export async function removeUnnamed(
  store: Store,
  content: ContentStore,
  clock: Clock,
  hashes: readonly string[],
): Promise<number> {
  const unnamed = new Set(hashes);
  for (let from = 0; unnamed.size > 0; ) {
    const page = await store.read((door) => door.ledger.readAll(from, PAGE));
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
