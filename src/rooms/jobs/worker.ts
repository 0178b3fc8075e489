import { requireFacts } from "./job-state.ts";
import type { JobFacts, Pauses } from "./ports.ts";
import { type Claim, claimStep, finishStep, type Held, renewLease, toHeld, type Wanted, type Worker } from "./queue.ts";
import type { Outcome } from "./receipt.ts";
import { runStep, type StepPorts } from "./step-run.ts";

export interface WorkerPorts extends StepPorts {
  readonly pauses: Pauses;
}

// How long a worker sleeps while it waits for the step before its own; whoever ends that one wakes it earlier.
const ORDER_MS = 20;

/** Told after every step that ended. */
export type OnStep = (status: "COMMITTED" | "FAILED") => void;

/** Runs steps one after the other: each transaction that ends one also claims the next. */
export class StepRunner {
  readonly #ports: WorkerPorts;
  readonly #worker: Worker;
  readonly #wanted: Wanted;
  readonly #onStep: OnStep;
  #job: JobFacts | null = null;

  constructor(ports: WorkerPorts, worker: Worker, wanted: Wanted, onStep: OnStep) {
    this.#ports = ports;
    this.#worker = worker;
    this.#wanted = wanted;
    this.#onStep = onStep;
  }

  claim(): Promise<Claim> {
    return claimStep(this.#ports, this.#wanted, this.#worker);
  }

  /** Runs a claimed step and claims the next, unless `stop` was given meanwhile; null when that is all for now. */
  async perform(row: Exclude<Claim, string>, stop: AbortSignal): Promise<Claim | null> {
    const held = toHeld(row, this.#worker);
    const renewal = new Renewal(this.#ports, held, this.#worker.lease_ms);
    try {
      const job = await this.#facts(row.job_id);
      const outcome = await runStep(this.#ports, { row, job, held, signal: renewal.lost });
      if (outcome === null || renewal.lost.aborted) return renewal.giveUp();
      return await this.#finish(held, outcome, renewal, stop);
    } finally {
      renewal.stop();
    }
  }

  /** Ends the step when its turn has come. A result whose lease was lost is discarded. */
  async #finish(held: Held, outcome: Outcome, renewal: Renewal, stop: AbortSignal): Promise<Claim | null> {
    for (;;) {
      const next = stop.aborted ? null : { wanted: this.#wanted, worker: this.#worker };
      const answer = await finishStep(this.#ports, held, outcome, next);
      if ("done" in answer) {
        this.#ports.pauses.wake();
        this.#onStep(answer.done);
        return answer.next;
      }
      // Behind a failed step nothing ever takes effect.
      if (answer.job_failed) return null;
      if (answer.refused !== "STEP_OUT_OF_ORDER") return renewal.giveUp();
      await this.#ports.pauses.pause(ORDER_MS);
    }
  }

  async #facts(jobId: string): Promise<JobFacts> {
    if (this.#job?.job_id !== jobId) {
      this.#job = await this.#ports.store.read(({ jobs }) => requireFacts(jobs, jobId));
    }
    return this.#job;
  }
}

/** Renews a lease at a third of its time until stopped, and says when it was lost. */
class Renewal {
  readonly #abort = new AbortController();
  readonly #end: () => void;
  #failure: unknown = null;
  #busy = false;

  constructor(ports: WorkerPorts, held: Held, lease_ms: number) {
    const renew = async () => {
      this.#busy = true;
      try {
        if ((await renewLease(ports, held, lease_ms)) !== null) this.#abort.abort();
        this.#failure = null;
      } catch (thrown) {
        // The next renewal may work; if the lease ends before, this is why.
        this.#failure = thrown;
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
  giveUp(): null {
    if (this.#failure !== null) throw this.#failure;
    return null;
  }
}
