import { sortedUnique } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { StreamVerifier } from "../../../core/ledger/index.ts";
import type { LedgerReader } from "../../../core/ports.ts";
import { isFree } from "../beat/claims.ts";
import { WORLD_RECORDS } from "../contracts/records.ts";
import type { WorldPorts, WorldReadTransaction, WorldStore } from "../operations/ports.ts";
import { readRecords } from "./lineage.ts";
import { parseState, streamOf } from "./state.ts";

/** What the erasure of a world needs besides the room's ports. */
export interface Maintenance {
  /**
   * Runs `fn` on a store that nobody else uses: a copy that takes the place of the store when `fn` was fine, or the
   * database itself where that can be undone as a whole.
   */
  maintain<T>(fn: (store: WorldStore) => Promise<T>): Promise<T>;
  /** Removes those of these payloads that no ledger entry names any more, and says how many. */
  removeUnnamed(hashes: readonly string[]): Promise<number>;
}

interface Erased {
  readonly world_id: string;
  /** Records whose bodies are gone; their places and hashes stay. */
  readonly records: number;
  readonly entries: number;
  readonly blobs: number;
}

/** Erases a world for good. Chain and proofs of the ledger hold, because they cover the hashes of the bodies. */
export async function eraseWorld(ports: WorldPorts & Maintenance, worldId: string, confirm: string): Promise<Erased> {
  await ports.store.read((tx) => requireErasable(ports, tx, worldId, confirm));
  const erased = await ports.maintain((store) =>
    store.transact(async (tx) => {
      await requireErasable(ports, tx, worldId, confirm);
      const world = (await tx.world.hold(worldId))!;
      const stream = streamOf(worldId);
      const records = await readRecords(tx.ledger, worldId);
      const entries = parseState(world).next_wseq - 1;
      const body = { world_id: worldId, erased_below: records.length };
      const record = WORLD_RECORDS.make("WORLD_DELETED", ports.actor, body);
      await tx.ledger.append(stream, records.length, [record]);
      // Asking for the size gives the new record its place in the global order before tables are altered.
      await tx.ledger.size();
      await tx.world.erase(world, stream, records.length);
      await requireChain(ports, tx.ledger, stream);
      const sources = records.flatMap(({ body: told }) =>
        [told["source_sha256"], told["sha256"]].filter((named) => typeof named === "string"),
      );
      return { records: records.length, entries, sources: sortedUnique(sources) };
    }),
  );
  const blobs = await ports.removeUnnamed(erased.sources);
  return { world_id: worldId, records: erased.records, entries: erased.entries, blobs };
}

async function requireErasable(
  ports: Pick<WorldPorts, "clock" | "worker">,
  tx: WorldReadTransaction,
  worldId: string,
  confirm: string,
): Promise<void> {
  const row = await tx.world.find(worldId);
  if (row === null) throw new VerbatimError("WORLD_NOT_FOUND", { where: worldId });
  if (parseState(row).settings.title !== confirm) {
    throw new VerbatimError("INPUT_INVALID", {
      message: "this is not the title of the world; nothing was deleted",
      where: "/confirm",
      fix: {
        cli: "Type the title exactly as verbatim world show prints it.",
        others: "Type the title exactly as the world shows it.",
      },
    });
  }
  if (!isFree(ports, row, "", ports.clock.now())) {
    throw new VerbatimError("WORLD_BUSY", { message: "a beat is running in this world", where: worldId });
  }
  const forks: string[] = [];
  for (const { world_id } of await tx.world.list()) {
    const [first] = await tx.ledger.readStream(streamOf(world_id), 0, 1);
    if (first?.kind !== "WORLD_FORKED") continue;
    const fork = WORLD_RECORDS.read(first);
    const isFork = fork.kind === "WORLD_FORKED" && fork.body.parent_world_id === worldId;
    if (isFork && fork.body.source_sha256 === null) forks.push(world_id);
  }
  if (forks.length > 0) {
    throw new VerbatimError("WORLD_HAS_FORKS", {
      message: `${forks.join(", ")} were forked from this world`,
      where: worldId,
      details: { forks },
    });
  }
}

const PAGE = 1000;

async function requireChain(
  { crypto }: Pick<WorldPorts, "crypto">,
  ledger: LedgerReader,
  stream: string,
): Promise<void> {
  const verifier = new StreamVerifier(crypto, stream);
  for (let next = 0; ; ) {
    const page = await ledger.readStream(stream, next, PAGE);
    verifier.acceptRecords(page);
    if (page.length < PAGE) break;
    next += page.length;
  }
  if (verifier.problem === null) return;
  throw new VerbatimError("INTERNAL", {
    message: "the chain would be broken after the deletion; nothing was deleted",
    details: { problem: verifier.problem },
  });
}
