import { isHash } from "../canonical/index.ts";
import type { Finding } from "../errors/index.ts";
import type { Awaitable, EntryRecord, LedgerReader, Progress, SyncCrypto } from "../ports.ts";
import { StreamVerifier } from "./chain.ts";
import { MerkleFrontier } from "./merkle.ts";

/** A problem of a ledger: the first of its stream, or of the global order. */
interface LedgerProblem {
  readonly code: Finding<"ledger">;
  readonly stream: string;
  readonly position: number;
  readonly expected: string;
  readonly actual: string;
}

export interface LedgerVerdict {
  readonly entries: number;
  readonly streams: number;
  /** Merkle root over all entry hashes as they are stored; null when one of them is not a hash at all. */
  readonly root_hash: string | null;
  readonly problems: readonly LedgerProblem[];
}

const PAGE = 2048;

/**
 * Verifies every stream and the global order in one pass over the ledger: two hashes per entry, one page in memory.
 * Entries of one stream stand in the global order by position, so nothing is read twice.
 */
export async function verifyLedger(
  ledger: LedgerReader,
  crypto: SyncCrypto,
  progress?: Progress,
): Promise<LedgerVerdict> {
  const total = await ledger.size();
  const verifiers = new Map<string, StreamVerifier>();
  const frontier = new MerkleFrontier(crypto);
  const problems: LedgerProblem[] = [];
  let next = 0;
  let hashed = true;
  while (next < total) {
    const page = await ledger.readAll(next, PAGE);
    if (page.length === 0) break;
    let run: EntryRecord[] = [];
    for (const { index, entry } of page) {
      if (index !== next) {
        problems.push({
          code: "LEDGER_GLOBAL_GAP",
          stream: entry.stream,
          position: entry.position,
          expected: String(next),
          actual: String(index),
        });
        next = index;
      }
      next++;
      if (run.length > 0 && run[0]!.stream !== entry.stream) {
        const checked = accept(verifiers, crypto, run);
        if (checked instanceof Promise) await checked;
        run = [];
      }
      run.push(entry);
    }
    await accept(verifiers, crypto, run);
    const hashes = page.map(({ entry }) => entry.hash);
    hashed &&= hashes.every(isHash);
    if (hashed) await frontier.appendEntries(hashes);
    progress?.report({ label: "verifying the ledger", done: Math.min(next, total), total });
  }
  for (const { stream, length } of await ledger.streams()) {
    const verifier = verifiers.get(stream) ?? new StreamVerifier(crypto, stream);
    const found = verifier.head === null ? 0 : verifier.head.position + 1;
    if (verifier.problem !== null) problems.push(verifier.problem);
    else if (found !== length) {
      // An entry that no global index names, or one that names a stream nobody lists.
      problems.push({
        code: "LEDGER_GLOBAL_GAP",
        stream,
        position: found,
        expected: String(length),
        actual: String(found),
      });
    }
  }
  return { entries: next, streams: verifiers.size, root_hash: hashed ? await frontier.root() : null, problems };
}

// No microtask where the crypto answers at once: streams may alternate with every entry.
function accept(
  verifiers: Map<string, StreamVerifier>,
  crypto: SyncCrypto,
  run: readonly EntryRecord[],
): Awaitable<unknown> {
  const first = run[0];
  if (first === undefined) return undefined;
  let verifier = verifiers.get(first.stream);
  if (verifier === undefined) {
    verifier = new StreamVerifier(crypto, first.stream);
    verifiers.set(first.stream, verifier);
  }
  return verifier.acceptRecords(run);
}
