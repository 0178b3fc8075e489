import { formatCanonical } from "../../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import type { Clock, Ids, Progress } from "../../../core/ports.ts";
import type { Breach } from "../../../core/text/index.ts";
import type { JobsReader, StepRow } from "../ports.ts";
import { busy } from "./cancel.ts";
import { findMissingOutputs, requireFacts, requireJob } from "./job-state.ts";
import { LEASE_MS } from "./lease.ts";
import type { Wanted } from "./queue.ts";
import { type OnStep, StepRunner, type WorkerPorts } from "./worker.ts";

export interface RunPorts extends WorkerPorts {
  readonly ids: Ids;
  readonly clock: Clock;
  readonly progress: Progress;
  /** Begins the names of this process's workers. */
  readonly host: string;
  /** Tells the person at a worker why it waits. */
  readonly notify?: (text: string) => void;
}

interface RunOptions {
  readonly workers: number;
  readonly lease_ms?: number;
  /** Steps that were begun are ended, no new ones are begun. */
  readonly stop?: AbortSignal;
}

// How long someone else may hold a step without any step changing before that is an answer.
const PATIENCE_MS = 2000;
const PAUSE_MS = 25;
const IDLE_MS = 1000;
// The exit code of what is busy or unavailable for now.
const FOR_NOW = 4;

// Longer values of a failure are for the receipts.
const MOST_SHOWN = 300;

const NEVER = new AbortController().signal;

/** Names that no other worker has: leases and ledger entries carry them. */
function nameWorkers({ ids, host }: Pick<RunPorts, "ids" | "host">, count: number): string[] {
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
  await runTeam(ports, { job_id: jobId }, { ...options, names, onStep }, (team) => {
    const patience = new Patience(ports, jobId, new Set(names));
    return async (runner, stop) => {
      const answer = await runner.advance(!stop.aborted);
      if (answer === "NO_STEP") await patience.wait(stop, team);
      return answer === "MORE" || answer === "NO_STEP";
    };
  });
  await ports.store.read(({ jobs }) => requireSuccess(jobs, jobId));
}

/**
 * Runs steps of whatever jobs are open, oldest first: until nothing is claimable, or until stopped. One that runs until
 * it is stopped outlives what is only busy: the step's lease runs out, and it is tried again.
 */
export async function runWorkers(ports: RunPorts, options: RunOptions & { readonly once: boolean }): Promise<number> {
  let done = 0;
  const onStep = () => ports.progress.report({ label: "steps", done: ++done });
  const names = nameWorkers(ports, options.workers);
  await runTeam(ports, "any", { ...options, names, onStep }, () => async (runner, stop) => {
    const answer = await runner.advance(!stop.aborted).catch((thrown: unknown) => {
      if (options.once || !isVerbatimError(thrown) || thrown.exit !== FOR_NOW) throw thrown;
      ports.notify?.(`${thrown.code}: ${thrown.message}; trying again`);
      return "NO_STEP" as const;
    });
    // A job that is over is not open any more; the next one is looked for at once.
    if (answer !== "NO_STEP") return true;
    if (options.once && runner.waiting === 0) return false;
    await ports.pauses.pause(runner.waiting > 0 ? PAUSE_MS : IDLE_MS, stop.aborted ? undefined : stop);
    return true;
  });
  return done;
}

/** The workers of one call. */
type Team = readonly StepRunner[];

/** One turn of a worker; false when it has nothing more to do. */
type Turn = (runner: StepRunner, stop: AbortSignal) => Promise<boolean>;

/** Runs workers side by side and waits for all. When one throws, or on a stop, the others end what they began. */
async function runTeam(
  ports: RunPorts,
  wanted: Wanted,
  options: RunOptions & { readonly names: readonly string[]; readonly onStep: OnStep },
  begin: (team: Team) => Turn,
): Promise<void> {
  const lease_ms = options.lease_ms ?? LEASE_MS;
  const team = options.names.map((name) => new StepRunner(ports, { name, lease_ms }, wanted, options.onStep));
  const broken = new AbortController();
  const stop = AbortSignal.any([options.stop ?? NEVER, broken.signal]);
  const failures: unknown[] = [];
  const work = async (runner: StepRunner) => {
    const turn = begin(team);
    try {
      while (!stop.aborted || runner.waiting > 0) {
        // What is done and waits for a step that another worker here still runs takes effect before a stop.
        const last = stop.aborted && !team.some(({ performing }) => performing);
        const before = runner.waiting;
        if (!(await turn(runner, stop)) || (last && runner.waiting === before)) break;
      }
    } catch (thrown) {
      failures.push(thrown);
      broken.abort();
    } finally {
      runner.abandon();
    }
  };
  await Promise.all(team.map(work));
  if (failures.length > 0) throw failures[0];
}

/** Waits while someone moves, and gives up when only others could. */
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

  async wait(stop: AbortSignal, team: Team): Promise<void> {
    const rows = await this.#ports.store.read(({ jobs }) => jobs.steps(this.#jobId));
    const foreign = rows.filter(({ status, lease_owner }) => status === "LEASED" && !this.#own.has(lease_owner!));
    const seen = rows.map(({ status, fencing_token }) => `${status}${fencing_token}`).join();
    const now = this.#ports.clock.now();
    if (seen !== this.#seen || team.some(({ performing }) => performing)) this.#since = now;
    this.#seen = seen;
    if (now - this.#since >= PATIENCE_MS && foreign.length > 0) throw busy(this.#jobId, foreign);
    // A stop ends a pause at once; whoever waits for a colleague must not spin meanwhile.
    await this.#ports.pauses.pause(PAUSE_MS, stop.aborted ? undefined : stop);
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
  const values = formatCanonical(rest["details"] ?? {});
  const shown = values === "{}" || values.length > MOST_SHOWN ? "" : ` ${values}`;
  return new VerbatimError("JOB_FAILED", {
    message: `step ${step.ordinal} (${step.op}) of ${job_id} failed: ${String(code)}${numbers}${shown}`,
    details: { job_id, ordinal: step.ordinal, op: step.op, code, ...rest },
  });
}
