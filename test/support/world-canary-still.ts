import type { WorldReadTransaction, WorldStore } from "../../src/rooms/world/operations/ports.ts";

/**
 * A store that can stand still: while it does, everybody reads the same state of it in one transaction. A story that
 * has been told does not change, and each look at it saves the two round trips around its own transaction.
 */
export class StillStore {
  readonly store: WorldStore;
  readonly #inner: WorldStore;
  readonly #reading = new Set<Promise<unknown>>();
  #tx: WorldReadTransaction | null = null;

  constructor(inner: WorldStore) {
    this.#inner = inner;
    this.store = { ...inner, read: (fn) => this.#read(fn) };
  }

  /** Stands still until `run` has ended and nobody reads any more. */
  async during<T>(run: () => Promise<T>): Promise<T> {
    return this.#inner.read(async (tx) => {
      this.#tx = tx;
      try {
        return await run();
      } finally {
        this.#tx = null;
        await Promise.allSettled(this.#reading);
      }
    });
  }

  async #read<T>(fn: (tx: WorldReadTransaction) => Promise<T>): Promise<T> {
    if (this.#tx === null) return this.#inner.read(fn);
    const reading = fn(this.#tx);
    this.#reading.add(reading);
    try {
      return await reading;
    } finally {
      this.#reading.delete(reading);
    }
  }
}
