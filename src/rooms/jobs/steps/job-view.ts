import { z } from "zod";
import { count, hashHex, slice, symbolOrSectionId, uuid } from "../../../core/contracts/index.ts";
import type { JobFacts, JobsReader, ReceiptRow, StepRow, TeamReader } from "../ports.ts";
import { findMissingOutputs, JOB_STATES, type JobState, requireJob, toJobState } from "./job-state.ts";
import { STEP_STATUSES } from "./lease.ts";
import { targetOf } from "./receipt.ts";

export const jobId = z.string().describe("Id of the job: job_ and 16 hex digits.");

const breach = z.strictObject({
  ordinal: count,
  code: z.string(),
  breaches: z.array(z.strictObject({ budget: z.string(), limit: count, used: count })),
});

export const jobHead = z.strictObject({
  job_id: jobId,
  run_id: uuid,
  message_id: z.string(),
  plan_hash: hashHex,
  breach: breach.nullable(),
});

/** What a job's queue and branch say, where workers of a team run it. */
const teamStatus = z.strictObject({
  at: z.enum(["waiting", "taken", "stalled", "lost", "over"]),
  attempt: count.describe("How many attempts there were before this one."),
  code: z.string().nullable().describe("What the attempt before this one ended with."),
  queue: z.string(),
  ref: z.string().nullable().describe("The branch of its effects; null before the first one."),
});

/** A job and where each of its steps stands. */
export const jobStatus = jobHead.extend({
  intent: z.string(),
  state: z.enum(JOB_STATES),
  outputs: z.record(z.string(), z.string()),
  outputs_missing: z.array(z.string()),
  steps: z.array(
    z.strictObject({
      ordinal: count,
      step_id: uuid,
      op: z.string(),
      target: symbolOrSectionId,
      slice: slice.nullable(),
      status: z.enum(STEP_STATUSES),
      lease_owner: z.string().nullable(),
      lease_expires_ms: z.int().nullable(),
      fencing_token: count,
      code: z.string().nullable(),
      receipt_hash: hashHex.nullable(),
    }),
  ),
  team: teamStatus.optional(),
});

/** Where a job stands. */
export type JobStatus = z.output<typeof jobStatus>;

/** What a job is called and whether a step of it breaks a budget. */
export function toJobHead(job: Pick<JobFacts, "job_id" | "run_id" | "message_id" | "plan_hash" | "breach">) {
  const { job_id, run_id, message_id, plan_hash } = job;
  return { job_id, run_id, message_id, plan_hash, breach: toBreach(job.breach) };
}

export function toBreach(breached: JobFacts["breach"]) {
  if (breached === null) return null;
  const breaches = breached.breaches.map(({ budget, limit, used }) => ({ budget, limit, used: Number(used) }));
  return { ordinal: breached.ordinal, code: breached.code, breaches };
}

/** Reads the status of a job; JOB_UNKNOWN. */
export async function readStatus(
  { jobs, team }: { readonly jobs: JobsReader; readonly team?: TeamReader | null },
  id: string,
): Promise<JobStatus> {
  const job = await requireJob(jobs, id);
  const receipts = await jobs.receipts(id);
  const state = toJobState(await jobs.countSteps(id));
  const outputs_missing = state === "SUCCEEDED" ? findMissingOutputs(job, receipts) : [];
  const byStep = new Map(receipts.map((one) => [one.step_id, one]));
  const rows = await jobs.steps(id);
  return {
    ...toJobHead(job),
    intent: job.message.intent,
    state: outputs_missing.length > 0 ? "FAILED" : state,
    outputs: Object.assign({}, ...receipts.map(({ receipt }) => receipt.outputs)) as Record<string, string>,
    outputs_missing,
    steps: rows.map((row) => toStepStatus(row, byStep.get(row.step.step_id))),
    ...(await readTeamStatus(team ?? null, id)),
  };
}

async function readTeamStatus(team: TeamReader | null, id: string): Promise<Pick<JobStatus, "team">> {
  const row = team === null ? null : await team.dispatch(id);
  if (team === null || row === null) return {};
  return { team: { ...(await team.standing(row)), queue: row.queue, ref: row.ref } };
}

function toStepStatus(row: StepRow, receipt: ReceiptRow | undefined): JobStatus["steps"][number] {
  const { step, status, lease_owner, lease_expires_ms, fencing_token } = row;
  const code = receipt?.receipt.actions[0]?.result["code"];
  return {
    ordinal: step.ordinal,
    step_id: step.step_id,
    op: step.op,
    target: targetOf(step),
    slice: "slice" in step.constraints ? step.constraints.slice : null,
    status,
    lease_owner,
    lease_expires_ms,
    fencing_token,
    code: typeof code === "string" ? code : null,
    receipt_hash: receipt?.receipt_hash ?? null,
  };
}

export const jobLine = z.strictObject({
  number: count,
  job_id: jobId,
  run_id: uuid,
  state: z.enum(JOB_STATES),
  steps: count,
  committed: count,
  intent: z.string(),
});

/** One line of the list of jobs. */
export async function toJobLine(jobs: JobsReader, facts: JobFacts) {
  const { number, job_id, run_id, step_count: steps, intent } = facts;
  const counts = await jobs.countSteps(job_id);
  const state: JobState = toJobState(counts);
  return { number, job_id, run_id, state, steps, committed: counts.COMMITTED, intent };
}
