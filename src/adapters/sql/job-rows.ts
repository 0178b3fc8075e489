import { formatCanonical, formatString, parseJson } from "../../core/canonical/index.ts";
import type { Breach } from "../../core/text/index.ts";
import type { Message } from "../../rooms/jobs/contracts/message-shape.ts";
import type { Receipt } from "../../rooms/jobs/contracts/receipt-shape.ts";
import type { Step } from "../../rooms/jobs/contracts/step-shape.ts";
import type {
  JobFacts,
  JobRow,
  NewJob,
  NewStep,
  ReceiptRow,
  ResolvedStep,
  StepRow,
  StepStatus,
} from "../../rooms/jobs/ports.ts";

/** Columns of a job without its message and of a step, under the names of their tables. */
export const FACTS =
  "j.job_id, j.run_id, j.message_id, j.plan_hash, j.number, j.step_count, j.intent, j.breach_ordinal, j.breach";
export const STEP = "job_id, step, resolved, status, lease_owner, lease_expires_ms, fencing_token";

/** A list of intents needs no more of each than this. */
const INTENT_LENGTH = 200;

export interface StoredFacts extends Omit<JobFacts, "breach"> {
  readonly breach: string | null;
}

export interface StoredJob extends StoredFacts {
  readonly message: string;
}

export interface StoredStep {
  readonly job_id: string;
  readonly step: string;
  readonly resolved: string;
  readonly status: StepStatus;
  readonly lease_owner: string | null;
  readonly lease_expires_ms: number | null;
  readonly fencing_token: number;
}

export interface StoredReceipt {
  readonly step_id: string;
  readonly ordinal: number;
  readonly receipt: string;
  readonly receipt_hash: string;
}

/** What is written for a job, in the order of its columns. */
export function fromJob(job: NewJob, stepCount: number) {
  return {
    job_id: job.job_id,
    run_id: job.run_id,
    message_id: job.message_id,
    plan_hash: job.plan_hash,
    step_count: stepCount,
    breach_ordinal: job.breach?.ordinal ?? null,
    breach: job.breach === null ? null : formatCanonical(job.breach),
    intent: formatString([...job.message.intent.slice(0, 2 * INTENT_LENGTH)].slice(0, INTENT_LENGTH).join("")),
    message: formatCanonical(job.message),
  };
}

/** What is written for a step, in the order of its columns. */
export function fromStep({ step, resolved }: NewStep) {
  return {
    ordinal: step.ordinal,
    step_id: step.step_id,
    op: step.op,
    step: formatCanonical(step),
    resolved: formatCanonical(resolved),
  };
}

/** What a column holds. It was checked before it was written, with its job, and the database lets nobody change it. */
function readStored<T>(text: string): T {
  return parseJson(text) as unknown as T;
}

export function toJobFacts(row: StoredFacts): JobFacts {
  const { job_id, run_id, message_id, plan_hash, number, step_count, breach_ordinal } = row;
  // Kept as a JSON string, because databases do not take every character.
  const intent = JSON.parse(row.intent) as string;
  const breach = row.breach === null ? null : readStored<Breach>(row.breach);
  return { job_id, run_id, message_id, plan_hash, number, step_count, intent, breach_ordinal, breach };
}

export function toJobRow(row: StoredJob): JobRow {
  return { ...toJobFacts(row), message: readStored<Message>(row.message) };
}

export function toStepRow(row: StoredStep): StepRow {
  const { job_id, status, lease_owner, lease_expires_ms, fencing_token } = row;
  return {
    job_id,
    step: JSON.parse(row.step) as Step,
    resolved: JSON.parse(row.resolved) as ResolvedStep,
    status,
    lease_owner,
    lease_expires_ms,
    fencing_token,
  };
}

export function toReceiptRow({ step_id, ordinal, receipt, receipt_hash }: StoredReceipt): ReceiptRow {
  return { step_id, ordinal, receipt: readStored<Receipt>(receipt), receipt_hash };
}
