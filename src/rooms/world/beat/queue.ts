import type { Timer } from "../ports.ts";

/** Beats of one world in this process take turns, first come first served. */
export class Queues {
  readonly #pace: Timer;
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(pace: Timer) {
    this.#pace = pace;
  }

  /** Number of beats that wait for a turn. */
  get length(): number {
    let sum = 0;
    for (const waiting of this.#waiting.values()) sum += waiting.length;
    return sum;
  }

  /** Takes the turn when it is free. */
  tryTake(worldId: string): boolean {
    if (this.#waiting.has(worldId)) return false;
    this.#waiting.set(worldId, []);
    return true;
  }

  /** Waits for the turn; false when it did not come in time. */
  async take(worldId: string, timeoutMs: number): Promise<boolean> {
    if (this.tryTake(worldId)) return true;
    const waiting = this.#waiting.get(worldId)!;
    let give: () => void = () => undefined;
    const turn = new Promise<boolean>((resolve) => {
      give = () => resolve(true);
    });
    waiting.push(give);
    const alarm = new AbortController();
    const got = await Promise.race([turn, this.#pace.sleep(timeoutMs, alarm.signal).then(() => false)]);
    alarm.abort();
    const at = waiting.indexOf(give);
    if (!got && at >= 0) waiting.splice(at, 1);
    // The turn may have come in the very moment the waiting ended.
    return got || at < 0;
  }

  give(worldId: string): void {
    const next = this.#waiting.get(worldId)?.shift();
    if (next === undefined) this.#waiting.delete(worldId);
    else next();
  }
}
