import { VerbatimError } from "../../../core/errors/index.ts";
import type { JobFacts, JobsReader, Pauses, StepRow } from "../ports.ts";
import { requireFacts } from "./job-state.ts";
import {
  type Claim,
  claimStep,
  type Ended,
  finishPrepared,
  finishStep,
  type Held,
  type Prepared,
  type QueuePorts,
  renewLease,
  toHeld,
  type Wanted,
  type Worker,
} from "./queue.ts";
import type { Outcome } from "./receipt.ts";
import { foreseeStep, runStep, type StepPorts } from "./step-run.ts";

export interface WorkerPorts extends StepPorts {
  readonly pauses: Pauses;
  /** Given when another worker owns the job by now, or this process has to end: what runs is ended and restored. */
  readonly ended?: AbortSignal;
}

const PREPARED_AT_ONCE = 32;

/** Told after every step that ended, with its place in the job. */
export type OnStep = (status: Ended, ordinal: number) => void;

/** "MORE" when something was done, otherwise why there was nothing to do. */
type Advance = Exclude<Claim, StepRow> | "MORE";

/** A step that is done and waits for those before it to take effect. */
interface Waiting {
  readonly held: Held;
  readonly outcome: Outcome;
  readonly renewal: Renewal;
}

/** One worker: ends short steps many at a time, and runs the others one by one under their leases. */
export class StepRunner {
  readonly #ports: WorkerPorts;
  readonly #worker: Worker;
  readonly #wanted: Wanted;
  readonly #onStep: OnStep;
  /** The lowest one is the last. */
  readonly #waiting: Waiting[] = [];
  #performing = false;
  #job: JobFacts | null = null;
  #idle = false;

  constructor(ports: WorkerPorts, worker: Worker, wanted: Wanted, onStep: OnStep) {
    this.#ports = ports;
    this.#worker = worker;
    this.#wanted = wanted;
    this.#onStep = onStep;
  }

  /** Whether a step is being run right now. */
  get performing(): boolean {
    return this.#performing;
  }

  /** How many steps are done that could not take effect yet. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Gives up what waits; its leases run out. */
  abandon(): void {
    for (const { renewal } of this.#waiting.splice(0)) renewal.stop();
  }

  /** Does what can be done now; nothing new is begun unless `begin`. */
  async advance(begin = true): Promise<Advance> {
    const lowest = this.#waiting.at(-1);
    if (lowest !== undefined) return this.#finishWaiting(lowest, begin);
    if (!begin) return "NO_STEP";
    // While there is nothing to do, only a claim is tried: preparing costs more than asking.
    const prepared = this.#idle ? null : await this.#prepare();
    const answer =
      (prepared === null ? null : await this.#finishAhead(prepared)) ?? (await this.#runNext(this.#wanted));
    this.#idle = answer === "NO_STEP";
    return answer;
  }

  /** Ends prepared steps; null when that was not possible and another job may have something to do. */
  async #finishAhead(prepared: Prepared): Promise<Advance | null> {
    const { ended, claim } = await finishPrepared(this.#ports, prepared, this.#worker);
    if (ended.length > 0) this.#ports.pauses.wake();
    const ordinals = [...prepared.outcomes.keys()];
    for (const [n, status] of ended.entries()) this.#onStep(status, ordinals[n]!);
    if (typeof claim === "object" && claim !== null) await this.#perform(claim);
    else if (ended.length === 0) return this.#wanted === "any" ? null : (claim ?? "NO_STEP");
    return "MORE";
  }

  async #runNext(wanted: Wanted): Promise<Advance> {
    const claim = await claimStep(this.#ports, wanted, this.#worker);
    if (typeof claim === "string") return claim;
    await this.#perform(claim);
    return "MORE";
  }

  /** Looks at the steps that come next and prepares as many as are short; null when the first one is not. */
  async #prepare(): Promise<Prepared | null> {
    const found = await this.#ports.store.read(async ({ jobs }) => {
      const job =
        this.#wanted === "any" ? (await jobs.openJobsAfter(0, 1))[0] : await this.#facts(jobs, this.#wanted.job_id);
      return job === undefined ? null : { job, rows: await jobs.pendingSteps(job.job_id, PREPARED_AT_ONCE) };
    });
    const outcomes = new Map<number, Outcome>();
    for (const row of found?.rows ?? []) {
      const outcome = await foreseeStep(this.#ports, found!.job, row);
      if (outcome === null) break;
      outcomes.set(row.step.ordinal, outcome);
      if (outcome.receipt.status !== "SUCCESS") break;
    }
    return found === null || outcomes.size === 0 ? null : { job_id: found.job.job_id, outcomes };
  }

  /** Runs a claimed step. Its result is discarded when the lease was lost, and waits when its turn has not come. */
  async #perform(row: StepRow): Promise<void> {
    const held = toHeld(row, this.#worker);
    const renewal = new Renewal(this.#ports, held, this.#worker.lease_ms);
    this.#performing = true;
    try {
      const job = await this.#ports.store.read(({ jobs }) => this.#facts(jobs, row.job_id));
      const { ended } = this.#ports;
      const signal = ended === undefined ? renewal.lost : AbortSignal.any([renewal.lost, ended]);
      const outcome = await runStep(this.#ports, { row, job, held, signal });
      if (ended?.aborted === true) throw new VerbatimError("OWNER_LOST", { details: { job_id: row.job_id } });
      if (outcome === null || renewal.lost.aborted) renewal.giveUp();
      else if (!(await this.#finish({ held, outcome, renewal }))) {
        this.#waiting.push({ held, outcome, renewal });
        return;
      }
    } finally {
      this.#performing = false;
      if (this.#waiting.at(-1)?.renewal !== renewal) renewal.stop();
    }
  }

  /** Tries again to end a step that waits; meanwhile does one before it whose worker has died. */
  async #finishWaiting(one: Waiting, begin: boolean): Promise<Advance> {
    if (await this.#finish(one)) {
      this.#waiting.pop();
      one.renewal.stop();
      return "MORE";
    }
    if (!begin) return "NO_STEP";
    const { job_id, ordinal } = one.held;
    const answer = await this.#runNext({ job_id, below: ordinal });
    return answer === "MORE" ? "MORE" : "NO_STEP";
  }

  /** Ends a step, or finds that it can never take effect; false when its turn has not come. */
  async #finish({ held, outcome, renewal }: Waiting): Promise<boolean> {
    const answer = await finishStep(this.#ports, held, outcome);
    if ("done" in answer) {
      this.#ports.pauses.wake();
      this.#onStep(answer.done, held.ordinal);
      return true;
    }
    // Behind a failed step nothing ever takes effect.
    if (answer.job_failed) return true;
    if (answer.refused === "STEP_OUT_OF_ORDER") return false;
    renewal.giveUp();
    return true;
  }

  async #facts(jobs: JobsReader, jobId: string): Promise<JobFacts> {
    if (this.#job?.job_id !== jobId) this.#job = await requireFacts(jobs, jobId);
    return this.#job;
  }
}

/** Renews a lease at a third of its time until stopped, and says when it was lost. */
class Renewal {
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
