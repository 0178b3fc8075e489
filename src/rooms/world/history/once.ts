import { hashCanonical, type JsonShape } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { WorldPorts, WorldWriteTransaction } from "../operations/ports.ts";

/** An optional key under which a world is made once. */
export interface OnceKey {
  readonly key: string | null;
  /** What was asked for: another body under the same key is refused. */
  readonly body: object;
}

/** What was made: the number of the new world, and what is answered. */
interface Made<T> {
  readonly world: number;
  readonly value: T;
}

/** Makes a world in one transaction. With a key the answer is stored with it and given again. */
export async function makeOnce<T extends object>(
  ports: Pick<WorldPorts, "store" | "crypto" | "onControl">,
  once: OnceKey | null,
  run: (tx: WorldWriteTransaction) => Promise<Made<T & JsonShape<T>>>,
): Promise<T> {
  const key = once?.key ?? null;
  const body_sha256 = hashCanonical(ports.crypto, once?.body ?? {});
  const { value, isReplay } = await ports.store.transact(async (tx) => {
    const stored = key === null ? null : await tx.world.once(key);
    if (stored !== null) {
      if (stored.body_sha256 !== body_sha256) throw new VerbatimError("IDEMPOTENCY_BODY_MISMATCH", { where: key! });
      return { value: JSON.parse(stored.outcome) as T, isReplay: true };
    }
    const made = await run(tx);
    if (key !== null) {
      await tx.world.addOnce(made.world, key, { body_sha256, outcome: JSON.stringify(made.value), headers: "{}" });
    }
    return { value: made.value as T, isReplay: false };
  });
  if (isReplay) ports.onControl?.("", true);
  return value;
}
