import { hashCanonical, type JsonShape } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { claim, toControlId } from "../beat/idempotency.ts";
import type { WorldPorts, WorldWriteTransaction } from "../operations/ports.ts";
import { type OpenWorld, openRow } from "../projection/reading.ts";

type Ports = Pick<WorldPorts, "store" | "clock" | "pace" | "times" | "crypto" | "onControl">;

/** An optional key under which a control write happens once. */
export interface ControlKey {
  readonly key: string | null;
  /** What was asked for: another body under the same key is refused. */
  readonly body: object;
}

/**
 * A control write: one transaction that waits for a running beat of the world, like a beat would. With a key the
 * answer is stored and given again.
 */
export async function controlWorld<T extends object>(
  ports: Ports,
  worldId: string,
  once: ControlKey | null,
  write: (tx: WorldWriteTransaction, world: OpenWorld) => Promise<T & JsonShape<T>>,
): Promise<T> {
  const end = ports.pace.elapsed() + ports.times.queue_ms;
  for (let pause = 5; ; pause = Math.min(pause * 2, 100)) {
    const answer = await ports.store.transact(async (tx) => {
      const row = await tx.world.hold(worldId);
      if (row === null) throw new VerbatimError("WORLD_NOT_FOUND", { where: worldId });
      if (row.lock_holder !== null && row.lock_until > ports.clock.now()) return null;
      const run = async () => write(tx, openRow(row));
      if (once === null || once.key === null) return { value: await run(), isReplay: false };
      return runOnce(ports, tx, row.number, once, run);
    });
    if (answer !== null) {
      ports.onControl?.(worldId, answer.isReplay);
      return answer.value;
    }
    if (ports.pace.elapsed() >= end) throw new VerbatimError("WORLD_BUSY", { where: worldId });
    await ports.pace.sleep(pause);
  }
}

async function runOnce<T extends object>(
  ports: Ports,
  tx: WorldWriteTransaction,
  world: number,
  { key, body }: ControlKey,
  run: () => Promise<T>,
): Promise<{ readonly value: T; readonly isReplay: boolean }> {
  const requestId = toControlId(String(key));
  const stored = await tx.world.invocation(world, requestId);
  const verdict = claim(stored, hashCanonical(ports.crypto, body), ports.clock.now(), 0);
  if (verdict.result === "BODY_MISMATCH") throw new VerbatimError("IDEMPOTENCY_BODY_MISMATCH", { where: String(key) });
  if (!("row" in verdict)) return { value: JSON.parse(stored!.outcome!) as T, isReplay: true };
  const value = await run();
  const outcome = JSON.stringify(value);
  await tx.world.putInvocation(world, {
    ...verdict.row,
    request_id: requestId,
    status: "DONE",
    outcome,
    headers: "{}",
  });
  return { value, isReplay: false };
}
