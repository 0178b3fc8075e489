import { VerbatimError } from "../errors/index.ts";
import type { EntryRecord, LedgerReader, Progress, SyncCrypto } from "../ports.ts";
import { StreamVerifier } from "./chain.ts";
import { MerkleFrontier } from "./merkle.ts";
import { TRUST_RECORDS } from "./records.ts";
import type { LedgerVerdict } from "./verify.ts";

const PAGE = 2048;
const HASHES = 8192;

/** The right edge of the tree over the first entries, from their hashes. */
export async function readFrontier(crypto: SyncCrypto, ledger: LedgerReader, size: number): Promise<MerkleFrontier> {
  const frontier = new MerkleFrontier(crypto);
  while (frontier.size < size) {
    const hashes = await ledger.readHashes(frontier.size, Math.min(HASHES, size - frontier.size));
    if (hashes.length === 0) break;
    await frontier.appendEntries(hashes);
  }
  return frontier;
}

/** A verification that went on from a checkpoint, and from where. */
export interface SinceVerdict extends LedgerVerdict {
  readonly since: { readonly tree_size: number; readonly index: number } | null;
}

/**
 * Verifies what came after the newest checkpoint that the ledger itself records: streams go on from the last entry before
 * it, the tree from its right edge. Cost: the new entries. A checkpoint without an edge costs a walk over the hashes.
 * CHECKPOINT_NONE where nothing was ever signed.
 */
export async function verifySince(
  ledger: LedgerReader,
  crypto: SyncCrypto,
  progress?: Progress,
): Promise<SinceVerdict> {
  const total = await ledger.size();
  const [newest] = await ledger.browse({ streams: ["trust"], kinds: ["CHECKPOINT"], limit: 1 });
  if (newest === undefined) throw new VerbatimError("CHECKPOINT_NONE");
  const said = TRUST_RECORDS.read(newest.entry).body;
  const problems: LedgerVerdict["problems"][number][] = [];
  const place = { stream: "trust", position: newest.entry.position };
  const frontier = new MerkleFrontier(crypto);
  const isWhole = said.frontier !== undefined && frontier.resume(said.tree_size, said.frontier);
  const edge = isWhole ? frontier : await readFrontier(crypto, ledger, said.tree_size);
  const root = await edge.root();
  if (edge.size !== said.tree_size || root !== said.root_hash) {
    problems.push({ code: "LEDGER_CHECKPOINT_MISMATCH", ...place, expected: said.root_hash, actual: root });
  }
  const verifiers = new Map<string, StreamVerifier<SyncCrypto>>();
  let next = said.tree_size;
  while (next < total && problems.length === 0) {
    const page = await ledger.readAll(next, PAGE);
    if (page.length === 0) break;
    for (const { index, entry } of page) {
      if (index !== next) {
        const { stream, position } = entry;
        problems.push({ code: "LEDGER_GLOBAL_GAP", stream, position, expected: String(next), actual: String(index) });
        next = index;
      }
      next++;
      const verifier = verifiers.get(entry.stream) ?? (await begin(ledger, crypto, entry));
      verifiers.set(entry.stream, verifier);
      verifier.acceptRecords([entry]);
    }
    await edge.appendEntries(page.map(({ entry }) => entry.hash));
    progress?.report({ label: "verifying the ledger", done: next - said.tree_size, total: total - said.tree_size });
  }
  for (const verifier of verifiers.values()) if (verifier.problem !== null) problems.push(verifier.problem);
  const since = { tree_size: said.tree_size, index: newest.index };
  const root_hash = problems.length === 0 ? await edge.root() : null;
  return { entries: Math.max(0, next - said.tree_size), streams: verifiers.size, root_hash, problems, since };
}

/** Goes on behind the entry before this one, which the checkpoint covers. */
async function begin(
  ledger: LedgerReader,
  crypto: SyncCrypto,
  { stream, position }: EntryRecord,
): Promise<StreamVerifier<SyncCrypto>> {
  if (position === 0) return new StreamVerifier(crypto, stream);
  const [before] = await ledger.readStream(stream, position - 1, 1);
  return before === undefined
    ? new StreamVerifier(crypto, stream)
    : new StreamVerifier(crypto, stream, { position: before.position, hash: before.hash });
}
