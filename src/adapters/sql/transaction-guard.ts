import { AsyncLocalStorage } from "node:async_hooks";
import { VerbatimError } from "../../core/errors/index.ts";

/** The life of one door: open until its transaction ends, and spoiled by the first statement that failed. */
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

  /** Throws unless the door may still be used. */
  require(): void {
    if (!this.#open) {
      throw new VerbatimError("INTERNAL", { message: "a door of the store was used after its transaction had ended" });
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

/**
 * Refuses a door inside a door. A nested transaction would wait for the one around it, and a nested read
 * would see another state of the store than the code that asked for it.
 */
export class DoorKeeper {
  readonly #current = new AsyncLocalStorage<TransactionGuard>();

  /** Throws when the caller stands inside an open door of this store. */
  requireOutside(): void {
    if (this.#current.getStore()?.open === true) {
      throw new VerbatimError("INTERNAL", {
        message: "read, transact or close was called inside another read or transact of the same store",
      });
    }
  }

  /** Runs `fn` inside the door. */
  enter<T>(lease: TransactionGuard, fn: () => Promise<T>): Promise<T> {
    return this.#current.run(lease, fn);
  }
}
