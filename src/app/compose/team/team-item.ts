import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { toDiskError } from "../../../core/errors/system.ts";
import type { Pauses, WorkItem } from "../../../rooms/jobs/index.ts";
import type { AppStore } from "../store/store.ts";

/** How the time of a worker with something that is no job ended. */
export type ItemEnd = "DONE" | "LOST" | "RELEASED" | "BROKEN";

type Tx = Parameters<Parameters<AppStore["transact"]>[0]>[0];

/** An attempt that is held: whatever is written counts only while it is the newest one. */
export interface Hold {
  /** Given when another attempt has begun. */
  readonly lost: AbortSignal;
  write<T>(fn: (tx: Tx) => Promise<T>): Promise<T>;
  /** The last thing that is written of it. */
  end(fn: (tx: Tx) => Promise<void>): Promise<"DONE">;
}

interface HoldOptions {
  readonly store: AppStore;
  readonly pauses: Pauses;
  readonly composition: { notify(text: string): void };
  readonly stop: AbortSignal;
}

const BEAT_MS = 3_000;

/** Keeps an attempt alive while `work` runs, and gives back what it did not end. */
export async function holdItem(
  { store, pauses, composition, stop }: HoldOptions,
  item: WorkItem,
  work: (hold: Hold) => Promise<ItemEnd>,
): Promise<ItemEnd> {
  const lost = new AbortController();
  const require = (isOwn: boolean) => {
    if (isOwn) return;
    lost.abort();
    throw new VerbatimError("OWNER_LOST", { details: { job_id: item.job_id } });
  };
  const hold: Hold = {
    lost: lost.signal,
    write: (fn) =>
      store.transact(async (tx) => {
        const result = await fn(tx);
        require(await tx.team!.touch(item));
        return result;
      }),
    end: (fn) =>
      store.transact(async (tx) => {
        await fn(tx);
        require(await tx.team!.finish(item));
        return "DONE" as const;
      }),
  };
  const endBeat = pauses.every(BEAT_MS, () => {
    // A database that is away for a moment is asked again; whether the attempt is lost is said by it alone.
    void hold.write(async () => undefined).catch(() => undefined);
  });
  try {
    const end = await work(hold);
    if (end === "RELEASED" && !lost.signal.aborted) await giveBack(store, item, "RELEASED", "now");
    return lost.signal.aborted ? "LOST" : end;
  } catch (thrown) {
    if (lost.signal.aborted) return "LOST";
    const told = toDiskError(thrown, "the work folder");
    const code = isVerbatimError(told) ? told.code : "INTERNAL";
    composition.notify(`${item.job_id}: ${code}: ${told instanceof Error ? told.message : String(told)}`);
    await giveBack(store, item, code, stop.aborted ? "now" : "later");
    return stop.aborted ? "RELEASED" : "BROKEN";
  } finally {
    endBeat();
  }
}

async function giveBack(store: AppStore, item: WorkItem, code: string, when: "now" | "later"): Promise<void> {
  await store.transact(async ({ team }) => void (await team!.release(item, code, when)));
}
