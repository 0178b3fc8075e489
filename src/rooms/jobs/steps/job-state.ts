import { VerbatimError } from "../../../core/errors/index.ts";
import { findNearest } from "../../../core/text/index.ts";
import type { JobFacts, JobRow, JobsReader, ReceiptRow, StepCounts } from "../ports.ts";

export const JOB_STATES = ["PENDING", "RUNNING", "SUCCEEDED", "FAILED"] as const;
export type JobState = (typeof JOB_STATES)[number];

/** The ledger stream of a job. */
export function streamOf(jobId: string): string {
  return `job/${jobId}`;
}

/** The state of a job, which is that of its steps. */
export function toJobState(counts: StepCounts): JobState {
  if (counts.FAILED > 0) return "FAILED";
  if (counts.PENDING + counts.LEASED === 0) return "SUCCEEDED";
  return counts.LEASED + counts.COMMITTED > 0 ? "RUNNING" : "PENDING";
}

/** Required outputs that no receipt has. */
export function findMissingOutputs(job: JobRow, receipts: readonly ReceiptRow[]): string[] {
  const made = new Set(receipts.flatMap(({ receipt }) => Object.keys(receipt.outputs)));
  return job.message.required_outputs.filter((name) => !made.has(name));
}

const PAGE = 1000;
const MOST_COMPARED = 10_000;

/** What is known of a job, or JOB_UNKNOWN with the nearest ids. */
export async function requireFacts(jobs: JobsReader, jobId: string): Promise<JobFacts> {
  const facts = await jobs.facts(jobId);
  if (facts === null) throw await unknownJob(jobs, jobId);
  return facts;
}

/** A job with its message, or JOB_UNKNOWN with the nearest ids. */
export async function requireJob(jobs: JobsReader, jobId: string): Promise<JobRow> {
  const job = await jobs.job(jobId);
  if (job === null) throw await unknownJob(jobs, jobId);
  return job;
}

async function unknownJob(jobs: JobsReader, jobId: string): Promise<VerbatimError> {
  const ids: string[] = [];
  for (let after = 0; ids.length < MOST_COMPARED; ) {
    const page = await jobs.jobsAfter(after, PAGE);
    ids.push(...page.map(({ job_id }) => job_id));
    if (page.length < PAGE) break;
    after = page.at(-1)!.number;
  }
  const nearest = findNearest(jobId, ids);
  const hint = nearest.length === 0 ? "" : `; nearest: ${nearest.join(", ")}`;
  return new VerbatimError("JOB_UNKNOWN", {
    message: `there is no job ${jobId}${hint}`,
    details: { job_id: jobId, nearest },
  });
}
