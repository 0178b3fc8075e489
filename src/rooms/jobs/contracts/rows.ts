import { integer, json, orNull, plainJson, quoted, type RowOf, text, wide } from "../../../core/columns.ts";
import type { Breach } from "../../../core/text/index.ts";
import type { StepStatus } from "../steps/lease.ts";
import type { Message } from "./message-shape.ts";
import type { Receipt } from "./receipt-shape.ts";
import type { Plan, Step } from "./step-shape.ts";

// The tables of this room, column by column; a new one is written here and in a migration of each database.

/** What a step was resolved to when the plan was made. */
type ResolvedStep = Plan["resolved"][number];

/** What is known of a job without its message. */
export const JOB_FACTS = {
  job_id: text(),
  run_id: text(),
  message_id: text(),
  plan_hash: text(),
  /** Number in order of creation; there may be gaps. The database gives it. */
  number: wide(),
  step_count: integer(),
  /** The beginning of the message's intent, for lists. */
  intent: quoted(),
  /** The step that breaks a budget; nothing beyond it runs. */
  breach_ordinal: orNull(integer()),
  breach: orNull(json<Breach>()),
} as const;
export type JobFacts = RowOf<typeof JOB_FACTS>;

export const JOB = { ...JOB_FACTS, message: json<Message>() } as const;
export type JobRow = RowOf<typeof JOB>;

/** What a step is from the beginning; none of it changes. */
export const PLANNED_STEP = {
  job_id: text(),
  ordinal: integer(),
  step_id: text(),
  op: text(),
  step: plainJson<Step>(),
  resolved: plainJson<ResolvedStep>(),
} as const;

/** What a claim or a renewal writes. */
export const LEASE = {
  /** Who last held the step, also when it is final; null while it was never claimed. */
  lease_owner: orNull(text()),
  lease_expires_ms: orNull(wide()),
  /** Number of claims so far. */
  fencing_token: integer(),
} as const;

/** What is known of a step when someone wants to change it. */
export const HELD_STEP = { status: text<StepStatus>(), ...LEASE } as const;
export type HeldStep = RowOf<typeof HELD_STEP>;

/** A step as it is read: what is inside of it is not read beside it. */
export const STEP = {
  job_id: PLANNED_STEP.job_id,
  step: PLANNED_STEP.step,
  resolved: PLANNED_STEP.resolved,
  ...HELD_STEP,
} as const;
export type StepRow = RowOf<typeof STEP>;

/** A step that a claim might get: not final. */
export const CANDIDATE = {
  ordinal: PLANNED_STEP.ordinal,
  status: HELD_STEP.status,
  lease_expires_ms: LEASE.lease_expires_ms,
  fencing_token: LEASE.fencing_token,
} as const;
export type Candidate = RowOf<typeof CANDIDATE>;

export const RECEIPT = {
  step_id: text(),
  ordinal: integer(),
  receipt: json<Receipt>(),
  receipt_hash: text(),
} as const;
export type ReceiptRow = RowOf<typeof RECEIPT>;
