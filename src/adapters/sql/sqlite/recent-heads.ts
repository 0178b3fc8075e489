import type { StreamHead } from "../../../core/ports.ts";

const MAX_STREAMS = 256;

/**
 * Heads of streams this process appended to lately. Other processes may have appended since, so a head found here
 * is only a guess: the insert trigger refuses an entry that was sealed on a wrong one.
 */
export class RecentHeads {
  readonly #heads = new Map<string, StreamHead>();

  get(stream: string): StreamHead | undefined {
    return this.#heads.get(stream);
  }

  /** Remembers what a transaction has committed, and forgets the oldest. */
  remember(stream: string, head: StreamHead): void {
    this.#heads.delete(stream);
    this.#heads.set(stream, head);
    if (this.#heads.size > MAX_STREAMS) this.#heads.delete(this.#heads.keys().next().value!);
  }

  forget(stream: string): void {
    this.#heads.delete(stream);
  }
}
