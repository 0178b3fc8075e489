import { AsyncLocalStorage } from "node:async_hooks";
import { VerbatimError } from "../../core/errors/index.ts";

/** The life of one transaction: open until it ends, and spoiled by the first statement that failed. */
export class TransactionGuard {
  #open = true;
  #failure: Error | undefined;

  get open(): boolean {
    return this.#open;
  }

  /** The first failure, if any. PostgreSQL gives up such a transaction, so SQLite must not commit it either. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Throws unless the transaction may still be used. */
  require(): void {
    if (!this.#open) {
      throw new VerbatimError("INTERNAL", { message: "a transaction of the store was used after it had ended" });
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Remembers the first failure and hands the error back to be thrown. */
  fail(thrown: unknown): Error {
    const error = thrown instanceof Error ? thrown : new VerbatimError("INTERNAL", { cause: thrown });
    this.#failure ??= error;
    return error;
  }

  end(): void {
    this.#open = false;
  }
}

/** A transaction that the running code stands in, and the one around it, of another store. */
interface HeldTransaction {
  readonly keeper: TransactionKeeper;
  readonly lease: TransactionGuard;
  readonly outer: HeldTransaction | undefined;
}

// One for all stores: Node asks every storage that was ever used at every promise, so that one for each store would make a
// process slower with each store it opens.
const current = new AsyncLocalStorage<HeldTransaction>();

/**
 * Refuses a transaction inside another. A nested one would wait for the one around it, and a nested read
 * would see another state of the store than the code that asked for it.
 */
export class TransactionKeeper {
  /** Throws when the caller stands inside an open transaction of this store. */
  requireOutside(): void {
    for (let held = current.getStore(); held !== undefined; held = held.outer) {
      if (held.keeper !== this || !held.lease.open) continue;
      throw new VerbatimError("INTERNAL", {
        message: "read, transact or close was called inside another read or transact of the same store",
      });
    }
  }

  /** Runs `fn` inside the transaction. */
  enter<T>(lease: TransactionGuard, fn: () => Promise<T>): Promise<T> {
    let outer = current.getStore();
    // What was started inside a transaction may go on long after it: ended ones are not carried along.
    while (outer?.lease.open === false) outer = outer.outer;
    return current.run({ keeper: this, lease, outer }, fn);
  }
}
