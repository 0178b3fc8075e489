import { parseJson } from "../../../core/canonical/index.ts";
import { type Checkpoint, compareWithCheckpoint } from "../../../core/ledger/index.ts";
import { TRUST_RECORDS } from "../../../core/ledger/records.ts";
import type { LedgerReader, SyncCrypto } from "../../../core/ports.ts";

const STREAM = "trust";
const PAGE = 100;

/** A checkpoint and where it comes from. */
export interface KnownCheckpoint extends Checkpoint {
  readonly source: "ledger" | "file";
  /** When it was recorded; null for one from a file. */
  readonly time: string | null;
}

/** The newest checkpoint that was recorded in this ledger. */
export async function findCheckpoint(ledger: LedgerReader): Promise<KnownCheckpoint | null> {
  const head = await ledger.head(STREAM);
  for (let end = (head?.position ?? -1) + 1; end > 0; ) {
    const from = Math.max(0, end - PAGE);
    const page = await ledger.readStream(STREAM, from, end - from);
    const last = page.findLast(({ kind }) => kind === "CHECKPOINT");
    const record = last === undefined ? "" : TRUST_RECORDS.check(last.kind, parseJson(last.body));
    if (last !== undefined && typeof record !== "string") {
      const { ledger_id, root_hash, tree_size } = record.body;
      return { ledger_id, root_hash, tree_size, source: "ledger", time: last.time };
    }
    end = from;
  }
  return null;
}

/** How the ledger differs from a checkpoint: it ends before it, or it tells another story; null when it fits. */
export async function judgeCheckpoint(
  crypto: SyncCrypto,
  ledger: LedgerReader,
  checkpoint: Checkpoint,
): Promise<"WORLD_CHECKPOINT_AHEAD" | "WORLD_CHECKPOINT_DIVERGED" | null> {
  const extent = {
    ledger_id: await ledger.ledgerId(),
    size: await ledger.size(),
    hashes: (from: number, limit: number) => ledger.readHashes(from, limit),
  };
  const problem = await compareWithCheckpoint(crypto, extent, checkpoint);
  if (problem === null) return null;
  return problem.code === "LEDGER_TRUNCATED" ? "WORLD_CHECKPOINT_AHEAD" : "WORLD_CHECKPOINT_DIVERGED";
}
