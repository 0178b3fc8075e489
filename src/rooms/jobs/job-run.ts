import { VerbatimError } from "../../core/errors/index.ts";
import type { Clock, Ids, Progress } from "../../core/ports.ts";
import type { Breach } from "../../core/text/index.ts";
import { busy } from "./cancel.ts";
import { findMissingOutputs, requireFacts, requireJob } from "./job-state.ts";
import { LEASE_MS } from "./lease.ts";
import type { JobsReader, StepRow } from "./ports.ts";
import { StepRunner, type WorkerPorts } from "./worker.ts";

export interface RunPorts extends WorkerPorts {
  readonly ids: Ids;
  readonly clock: Clock;
  readonly progress: Progress;
  /** Begins the names of this process's workers. */
  readonly host: string;
}

export interface RunOptions {
  readonly workers: number;
  readonly lease_ms?: number;
  /** Steps that were begun are ended, no new ones are begun. */
  readonly stop?: AbortSignal;
}

// How long somebody else may hold a step without any step changing before that is an answer.
const PATIENCE_MS = 2000;
const PAUSE_MS = 25;
const IDLE_MS = 1000;

const NEVER = new AbortController().signal;

/** Names that no other worker has: leases and ledger entries carry them. */
export function nameWorkers({ ids, host }: Pick<RunPorts, "ids" | "host">, count: number): string[] {
  const process = ids.uuid().slice(0, 8);
  return Array.from({ length: count }, (_, i) => `${host}/${process}/${i + 1}`);
}

/**
 * Runs a job until it is done: JOB_FAILED when a step failed, JOB_OUTPUT_MISSING when a required output is absent,
 * JOB_BUSY when its steps are leased elsewhere and nothing moves. Any number of workers gives the same receipts.
 */
export async function runJob(ports: RunPorts, jobId: string, options: RunOptions): Promise<void> {
  const { step_count } = await ports.store.read(({ jobs }) => requireFacts(jobs, jobId));
  const before = await ports.store.read(({ jobs }) => jobs.countSteps(jobId));
  let done = before.COMMITTED;
  const onStep = () => ports.progress.report({ label: "steps", done: ++done, total: step_count });
  const names = nameWorkers(ports, Math.min(options.workers, step_count));
  const own = new Set(names);
  await all(options.stop ?? NEVER, names, async (name, stop) => {
    const worker = { name, lease_ms: options.lease_ms ?? LEASE_MS };
    const runner = new StepRunner(ports, worker, { job_id: jobId }, onStep);
    const patience = new Patience(ports, jobId, own);
    while (!stop.aborted) {
      const answer = await runner.advance();
      if (answer === "JOB_DONE" || answer === "JOB_FAILED") return;
      if (answer === "NO_STEP") await patience.wait(stop);
    }
  });
  await ports.store.read(({ jobs }) => requireSuccess(jobs, jobId));
}

/** Runs steps of whatever jobs are open, oldest first: until nothing is claimable, or until stopped. */
export async function runWorkers(ports: RunPorts, options: RunOptions & { readonly once: boolean }): Promise<number> {
  let done = 0;
  const onStep = () => ports.progress.report({ label: "steps", done: ++done });
  await all(options.stop ?? NEVER, nameWorkers(ports, options.workers), async (name, stop) => {
    const runner = new StepRunner(ports, { name, lease_ms: options.lease_ms ?? LEASE_MS }, "any", onStep);
    while (!stop.aborted) {
      const answer = await runner.advance();
      if (answer === "MORE") continue;
      // A job that is over is not open any more; the next one is looked for at once.
      if (answer === "NO_STEP" && options.once) return;
      if (answer === "NO_STEP") await ports.pauses.pause(IDLE_MS, stop);
    }
  });
  return done;
}

/** Runs one function per name and waits for all; when one throws, the others end what they began and stop. */
async function all(
  outer: AbortSignal,
  names: readonly string[],
  run: (name: string, stop: AbortSignal) => Promise<void>,
): Promise<void> {
  const broken = new AbortController();
  const stop = AbortSignal.any([outer, broken.signal]);
  const failures: unknown[] = [];
  const one = async (name: string) => {
    try {
      await run(name, stop);
    } catch (thrown) {
      failures.push(thrown);
      broken.abort();
    }
  };
  await Promise.all(names.map(one));
  if (failures.length > 0) throw failures[0];
}

/** Waits while others move, and gives up when only others could. */
class Patience {
  readonly #ports: RunPorts;
  readonly #jobId: string;
  readonly #own: ReadonlySet<string>;
  #seen = "";
  #since = 0;

  constructor(ports: RunPorts, jobId: string, own: ReadonlySet<string>) {
    this.#ports = ports;
    this.#jobId = jobId;
    this.#own = own;
  }

  async wait(stop: AbortSignal): Promise<void> {
    const rows = await this.#ports.store.read(({ jobs }) => jobs.steps(this.#jobId));
    const leased = rows.filter(({ status }) => status === "LEASED");
    const foreign = leased.filter(({ lease_owner }) => !this.#own.has(lease_owner!));
    const seen = rows.map(({ status, fencing_token }) => `${status}${fencing_token}`).join();
    const now = this.#ports.clock.now();
    if (seen !== this.#seen || foreign.length < leased.length) this.#since = now;
    this.#seen = seen;
    if (now - this.#since >= PATIENCE_MS && foreign.length > 0) throw busy(this.#jobId, foreign);
    await this.#ports.pauses.pause(PAUSE_MS, stop);
  }
}

/** Nothing when every step is committed and every output there; otherwise what is wrong. */
export async function requireSuccess(jobs: JobsReader, jobId: string): Promise<void> {
  const rows = await jobs.steps(jobId);
  const receipts = await jobs.receipts(jobId);
  const failed = rows.find(({ status }) => status === "FAILED");
  if (failed !== undefined) {
    const receipt = receipts.find(({ ordinal }) => ordinal === failed.step.ordinal)?.receipt;
    throw jobFailed(failed, receipt?.actions[0]?.result ?? {});
  }
  if (rows.some(({ status }) => status !== "COMMITTED")) return;
  const missing = findMissingOutputs(await requireJob(jobs, jobId), receipts);
  if (missing.length === 0) return;
  throw new VerbatimError("JOB_OUTPUT_MISSING", {
    message: `the job ${jobId} did not produce ${missing.join(", ")}`,
    details: { job_id: jobId, outputs: missing },
  });
}

function jobFailed({ job_id, step }: StepRow, result: Readonly<Record<string, unknown>>): VerbatimError {
  const { code, ...rest } = result;
  const breaches = (rest["breaches"] ?? []) as Breach["breaches"];
  const numbers = breaches.map(({ budget, used, limit }) => `; ${budget}: ${used} used, ${limit} allowed`).join("");
  return new VerbatimError("JOB_FAILED", {
    message: `step ${step.ordinal} (${step.op}) of ${job_id} failed: ${String(code)}${numbers}`,
    details: { job_id, ordinal: step.ordinal, op: step.op, code, ...rest },
  });
}
