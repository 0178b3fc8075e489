import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { toDiskError } from "../../../core/errors/system.ts";
import type { JobsStore } from "../ports.ts";
import type { WorkItem } from "./dispatch.ts";
import { endEffect, requireTeam } from "./effect-step.ts";
import { requireFacts, streamOf, toJobState } from "./job-state.ts";
import { claimStep, type Ended, finishStep, toHeld } from "./queue.ts";
import { toFailureOutcome } from "./receipt.ts";
import { toEffectPorts } from "./step-run.ts";
import { StepRunner, type WorkerPorts } from "./worker.ts";

export interface OwnPorts extends WorkerPorts {
  /** Told what went wrong here, with a job that another attempt will end. */
  readonly onTrouble?: (code: string, text: string) => void;
  /** Told of every step that ended, by its place in the job. */
  readonly onStep?: (ordinal: number, status: Ended) => void;
}

interface OwnOptions {
  /** Name of the owner in leases and entries. */
  readonly name: string;
  /** The owner is to end: a step that has begun is ended first, for as long as `graceMs`. */
  readonly stop: AbortSignal;
  readonly graceMs: number;
}

/** How the time of an owner with a job ended. */
export type OwnEnd = "DONE" | "LOST" | "RELEASED" | "BROKEN";

const LEASE_MS = 10_000;
const BEAT_MS = 3_000;
const WAIT_MS = 250;

/**
 * Works on a job as its only owner until it is done. Every change counts only while the attempt is the newest one; when it
 * is not any more, what was going to be written is rolled back and the work is ended.
 */
export async function ownJob(ports: OwnPorts, item: WorkItem, options: OwnOptions): Promise<OwnEnd> {
  const lost = new AbortController();
  const killed = new AbortController();
  const store = fence(ports.store, item, () => lost.abort());
  const own: WorkerPorts = { ...ports, store, ended: AbortSignal.any([lost.signal, killed.signal]) };
  const worker = { name: options.name, lease_ms: LEASE_MS };
  const unwatch = watchStop(ports, options, killed);
  try {
    const isCancelled = await ports.store.read(async ({ team }) => {
      const row = await requireTeam(team).dispatch(item.job_id);
      return row?.cancelled === true;
    });
    if (isCancelled) return await endCancelled(own, item, worker, options.stop);
    const runner = new StepRunner(own, worker, { job_id: item.job_id }, (status, ordinal) =>
      ports.onStep?.(ordinal, status),
    );
    const patience = createPatience(own, store);
    while (!options.stop.aborted) {
      const answer = await runner.advance();
      if (answer === "JOB_DONE" || answer === "JOB_FAILED") return await confirmEnd(store);
      if (answer === "NO_STEP") await patience(options.stop);
    }
    return await giveBack(ports, item, options.name, "RELEASED", "now");
  } catch (thrown) {
    if (isVerbatimError(thrown) && thrown.code === "OWNER_LOST") return "LOST";
    const told = toDiskError(thrown, options.name);
    const code = isVerbatimError(told) ? told.code : "INTERNAL";
    ports.onTrouble?.(code, told instanceof Error ? told.message : String(told));
    await giveBack(ports, item, options.name, code, options.stop.aborted ? "now" : "later");
    return options.stop.aborted ? "RELEASED" : "BROKEN";
  } finally {
    unwatch();
  }
}

/** A job that was done before this attempt began is taken out of its queue. */
async function confirmEnd(store: JobsStore): Promise<"DONE"> {
  await store.transact(async () => undefined);
  return "DONE";
}

function watchStop(ports: OwnPorts, { stop, graceMs }: OwnOptions, killed: AbortController): () => void {
  let timer: (() => void) | null = null;
  const begin = () => {
    timer = ports.pauses.every(Math.max(1, graceMs), () => killed.abort());
  };
  stop.addEventListener("abort", begin, { once: true });
  return () => {
    stop.removeEventListener("abort", begin);
    timer?.();
  };
}

/** Waits until the lease of an owner that is gone has run out, and keeps the attempt alive meanwhile. */
function createPatience(ports: WorkerPorts, store: JobsStore) {
  let waited = 0;
  return async (stop: AbortSignal) => {
    await ports.pauses.pause(WAIT_MS, stop);
    waited += WAIT_MS;
    if (waited % BEAT_MS < WAIT_MS) await store.transact(async () => undefined);
  };
}

/** A store whose transactions commit only while the attempt is the newest; the one that ends the job ends the item too. */
function fence(store: JobsStore, item: WorkItem, onLost: () => void): JobsStore {
  let ended = false;
  return {
    read: (fn) => store.read(fn),
    close: () => store.close(),
    async transact(fn) {
      try {
        return await store.transact(async (tx) => {
          const result = await fn(tx);
          const state = toJobState(await tx.jobs.countSteps(item.job_id));
          const isOver = state === "SUCCEEDED" || state === "FAILED";
          if (ended && isOver) return result;
          const team = requireTeam(tx.team);
          const isOwn = isOver ? await team.finish(item) : await team.touch(item);
          if (!isOwn) throw new VerbatimError("OWNER_LOST", { details: { job_id: item.job_id } });
          ended = isOver;
          return result;
        });
      } catch (thrown) {
        if (isVerbatimError(thrown) && thrown.code === "OWNER_LOST") onLost();
        throw thrown;
      }
    },
  };
}

/** Lets go of a job: leases of this owner end now, and the queue gives it to the next one. */
async function giveBack(
  ports: OwnPorts,
  item: WorkItem,
  name: string,
  code: string,
  when: "now" | "later",
): Promise<OwnEnd> {
  await ports.store.transact(async (tx) => {
    await tx.jobs.hold(streamOf(item.job_id));
    for (const row of await tx.jobs.steps(item.job_id)) {
      if (row.status !== "LEASED" || row.lease_owner !== name) continue;
      const place = { job_id: item.job_id, ordinal: row.step.ordinal };
      const { now, step } = (await tx.jobs.viewForChange(place))!;
      if (now >= step.lease_expires_ms!) continue;
      const lease = { lease_owner: name, lease_expires_ms: now + 1, fencing_token: row.fencing_token, now };
      await tx.jobs.lease({ ...place, ...lease });
    }
    await requireTeam(tx.team).release(item, code, when);
  });
  return "RELEASED";
}

/** Fails the lowest step that is not final; an effect whose commit is on the branch is a success, and the next one fails. */
async function endCancelled(
  ports: WorkerPorts,
  item: WorkItem,
  worker: { readonly name: string; readonly lease_ms: number },
  stop: AbortSignal,
): Promise<OwnEnd> {
  const { job_id } = item;
  const patience = createPatience(ports, ports.store);
  while (!stop.aborted) {
    const claim = await claimStep(ports, { job_id }, worker);
    if (claim === "JOB_DONE" || claim === "JOB_FAILED") return confirmEnd(ports.store);
    if (claim === "NO_STEP") {
      await patience(stop);
      continue;
    }
    const job = await ports.store.read(({ jobs }) => requireFacts(jobs, job_id));
    const held = toHeld(claim, worker);
    const attempt = { row: claim, job, held, signal: ports.ended ?? stop };
    const effects = toEffectPorts(ports);
    const isEffect = claim.step.op === "WRITE" || claim.step.op === "EXECUTE";
    const outcome =
      isEffect && effects !== null
        ? await endEffect(effects, attempt, "JOB_CANCELLED")
        : toFailureOutcome(job.run_id, claim.step, { code: "JOB_CANCELLED", details: {} });
    await finishStep(ports, held, outcome);
  }
  throw new VerbatimError("INTERRUPTED");
}

/** Sends open jobs again that no queue has any more: the queue is never the truth. Says how many. */
export async function resendLost(store: JobsStore): Promise<number> {
  return store.transact(async ({ team }) => {
    const lost = await requireTeam(team).lostJobs();
    for (const row of lost) await requireTeam(team).resend(row);
    return lost.length;
  });
}
