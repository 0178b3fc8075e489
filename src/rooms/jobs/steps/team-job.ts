import { VerbatimError } from "../../../core/errors/index.ts";
import { JOB_RECORDS } from "../contracts/records.ts";
import type { JobsStore, Pauses } from "../ports.ts";
import { requireTeam } from "./effect-step.ts";
import { requireFacts, streamOf, toJobState } from "./job-state.ts";

const LOOK_MS = 200;

/** Waits until the workers of a team ended a job; false when the time was over or someone interrupted. */
export async function waitForJob(
  ports: { readonly store: JobsStore; readonly pauses: Pauses; onSteps(done: number, total: number): void },
  jobId: string,
  stop: AbortSignal,
): Promise<boolean> {
  const { step_count } = await ports.store.read(({ jobs }) => requireFacts(jobs, jobId));
  while (!stop.aborted) {
    const counts = await ports.store.read(({ jobs }) => jobs.countSteps(jobId));
    ports.onSteps(counts.COMMITTED, step_count);
    const state = toJobState(counts);
    if (state === "SUCCEEDED" || state === "FAILED") return true;
    await ports.pauses.pause(LOOK_MS, stop);
  }
  return false;
}

/**
 * Asks for the end of a job whose step a worker holds or may have pushed. The attempt is taken from its owner at once; the
 * next one ends the job. False when it is over already.
 */
export function requestCancel(store: JobsStore, jobId: string, actor: string): Promise<boolean> {
  return store.transact(async ({ jobs, ledger, team }) => {
    await requireFacts(jobs, jobId);
    await jobs.hold(streamOf(jobId));
    const state = toJobState(await jobs.countSteps(jobId));
    if (state === "SUCCEEDED" || state === "FAILED") return false;
    const row = await requireTeam(team).dispatch(jobId);
    if (row === null) throw new VerbatimError("JOB_UNKNOWN", { details: { job_id: jobId } });
    if (row.cancelled) return true;
    await ledger.append(streamOf(jobId), "next", [JOB_RECORDS.make("CANCEL_REQUESTED", actor, { job_id: jobId })]);
    await requireTeam(team).cancel(row);
    return true;
  });
}

/** Whether an attempt of the job recorded an effect whose receipt is not written yet. */
export function hasOpenIntent(store: JobsStore, jobId: string): Promise<boolean> {
  return store.read(async ({ jobs, team }) => {
    const ended = new Set((await jobs.receipts(jobId)).map(({ step_id }) => step_id));
    return (await requireTeam(team).intents(jobId)).some(({ step_id }) => !ended.has(step_id));
  });
}

/** Sends an open job again that used up its retries, or that its queue lost. False when it is on its way already. */
export function retryJob(store: JobsStore, jobId: string): Promise<boolean> {
  return store.transact(async ({ jobs, team }) => {
    await requireFacts(jobs, jobId);
    const state = toJobState(await jobs.countSteps(jobId));
    if (state === "SUCCEEDED" || state === "FAILED") {
      throw new VerbatimError("JOB_OVER", { details: { job_id: jobId, state } });
    }
    await jobs.hold(streamOf(jobId));
    const row = await requireTeam(team).dispatch(jobId);
    if (row === null) throw new VerbatimError("JOB_UNKNOWN", { details: { job_id: jobId } });
    const { at } = await requireTeam(team).standing(row);
    if (at !== "lost" && at !== "stalled") return false;
    await requireTeam(team).resend(row);
    return true;
  });
}
