import { VerbatimError } from "../../../core/errors/index.ts";
import type { Pauses } from "../ports.ts";
import { type Held, type QueuePorts, renewLease } from "./queue.ts";

/** Renews a lease at a third of its time until stopped, and says when it was lost. */
export class Renewal {
  readonly #abort = new AbortController();
  readonly #end: () => void;
  #failure: Error | null = null;
  #busy = false;

  constructor(ports: QueuePorts & { readonly pauses: Pauses }, held: Held, lease_ms: number) {
    const renew = async () => {
      this.#busy = true;
      try {
        if ((await renewLease(ports, held, lease_ms)) !== null) this.#abort.abort();
        this.#failure = null;
      } catch (thrown) {
        // The next renewal may work; if the lease ends before, this is why.
        this.#failure = thrown instanceof Error ? thrown : new VerbatimError("INTERNAL", { cause: thrown });
      } finally {
        this.#busy = false;
      }
    };
    this.#end = ports.pauses.every(Math.max(1, Math.floor(lease_ms / 3)), () => {
      if (!this.#busy) void renew();
    });
  }

  get lost(): AbortSignal {
    return this.#abort.signal;
  }

  stop(): void {
    this.#end();
  }

  /** The lease is lost. When that is because it could not be renewed, the reason is thrown. */
  giveUp(): void {
    if (this.#failure !== null) throw this.#failure;
  }
}
