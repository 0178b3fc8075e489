import { isVerbatimError } from "../../../core/errors/index.ts";
import { parseTime } from "../../../core/time.ts";
import type { Beats } from "../beat/beats.ts";
import { findCheckpoint } from "../history/checkpoint.ts";
import { parseState } from "../history/state.ts";
import { DEFAULT_ADDRESS } from "../writer/writer-settings.ts";
import type { WorldPorts, WorldStore } from "./ports.ts";

const LOOK_MS = 30_000;

/** Which addresses of writers answer, looked at now and then. */
export class Reachability {
  readonly #known = new Map<string, { readonly at: number; readonly answer: Promise<boolean> }>();

  async look({ models, pace }: Pick<WorldPorts, "models" | "pace">, address: string): Promise<boolean> {
    const known = this.#known.get(address);
    const now = pace.elapsed();
    if (known !== undefined && now - known.at < LOOK_MS) return known.answer;
    const answer = models.isReachable(address);
    this.#known.set(address, { at: now, answer });
    return answer;
  }
}

interface Health {
  readonly store: boolean;
  readonly queue: number;
  readonly worlds: number;
  readonly ledger_entries: number;
  readonly writers: { readonly scripted: number; readonly reachable: number; readonly unreachable: number };
  readonly checkpoint_age_s: number | null;
  readonly index_lag: number;
}

type Room = WorldPorts & { readonly beats: Beats; writable(): Promise<WorldStore> };

/** How the room is doing. Says nothing about any one world. */
export async function readHealth(room: Room): Promise<Health> {
  const { rows, size, checkpoint } = await room.store.read(async ({ world, ledger }) => ({
    rows: await world.list(),
    size: await ledger.size(),
    checkpoint: await findCheckpoint(ledger),
  }));
  const writers = { scripted: 0, reachable: 0, unreachable: 0 };
  for (const row of rows) {
    const { writer } = parseState(row).settings;
    if (writer.kind === "scripted") writers.scripted++;
    else {
      const answers = await room.beats.reachability.look(room, writer.base_url ?? DEFAULT_ADDRESS[writer.kind]);
      writers[answers ? "reachable" : "unreachable"]++;
    }
  }
  const made = checkpoint?.time ?? null;
  return {
    // A workspace in which nothing was ever written has no store yet, and a look must not make one.
    store: size === 0 || (await isWritable(room)),
    queue: room.beats.queues.length,
    worlds: rows.length,
    ledger_entries: size,
    writers,
    checkpoint_age_s: made === null ? null : Math.max(0, Math.floor((room.clock.now() - parseTime(made)) / 1000)),
    index_lag: 0,
  };
}

async function isWritable(room: Room): Promise<boolean> {
  try {
    const store = await room.writable();
    // Takes the lock of a writer and lets it go.
    await store.transact(async () => undefined);
    return true;
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    return false;
  }
}
