import type { Candidate, HeldStep } from "../contracts/rows.ts";

export const STEP_STATUSES = ["PENDING", "LEASED", "COMMITTED", "FAILED"] as const;
export type StepStatus = (typeof STEP_STATUSES)[number];

/** How long a lease lasts unless told otherwise; workers renew at a third of it. */
export const LEASE_MS = 60_000;

/** What a claim is decided on. */
export interface ClaimView {
  readonly failed: boolean;
  /** The lowest step that is not committed; null when all are. */
  readonly lowest: number | null;
  /** The lowest WRITE or EXECUTE that is not committed: nothing beyond it runs before it. */
  readonly barrier: number | null;
  readonly breach_ordinal: number | null;
  /** At least the lowest PENDING step and the lowest one whose lease has ended, by ordinal. */
  readonly candidates: readonly Candidate[];
}

export type ClaimAnswer =
  | { readonly ordinal: number; readonly token: number; readonly expires: number }
  | "NO_STEP"
  | "JOB_DONE"
  | "JOB_FAILED";

/**
 * The lowest claimable step, or why there is none.
 *
 * @example
 * const step = { ordinal: 0, status: "PENDING", lease_expires_ms: null, fencing_token: 0 } as const;
 * const view = { failed: false, lowest: 0, barrier: null, breach_ordinal: null, candidates: [step] };
 * decideClaim(view, 1000, 60_000); // => { ordinal: 0, token: 1, expires: 61000 }
 */
export function decideClaim(view: ClaimView, now: number, ttl: number): ClaimAnswer {
  if (view.failed) return "JOB_FAILED";
  if (view.lowest === null) return "JOB_DONE";
  const { lowest, barrier, breach_ordinal: breach } = view;
  for (const { ordinal, status, lease_expires_ms: expires, fencing_token } of view.candidates) {
    const free = status === "PENDING" || (status === "LEASED" && expires !== null && now >= expires);
    const allowed = barrier === null || ordinal < barrier || (ordinal === barrier && ordinal === lowest);
    const withinBudget = breach === null || ordinal <= breach;
    if (free && allowed && withinBudget) return { ordinal, token: fencing_token + 1, expires: now + ttl };
  }
  return "NO_STEP";
}

/** What a worker says it holds. */
export interface Holder {
  readonly worker: string;
  readonly token: number;
}

export type LeaseRefusal = "STEP_FINAL" | "LEASE_LOST" | "LEASE_EXPIRED";

/**
 * Whether a worker still holds a step: null when it does. A lease is valid while now < expiry.
 *
 * @example
 * const step = { ordinal: 0, status: "LEASED", lease_owner: "w1", lease_expires_ms: 500, fencing_token: 1 } as const;
 * decideRenewal(step, { worker: "w1", token: 1 }, 499); // => null
 * decideRenewal(step, { worker: "w1", token: 1 }, 500); // => "LEASE_EXPIRED"
 */
export function decideRenewal(step: HeldStep, holder: Holder, now: number): LeaseRefusal | null {
  if (step.status === "COMMITTED" || step.status === "FAILED") return "STEP_FINAL";
  const holds = step.status === "LEASED" && step.lease_owner === holder.worker && step.fencing_token === holder.token;
  if (!holds) return "LEASE_LOST";
  return step.lease_expires_ms === null || now >= step.lease_expires_ms ? "LEASE_EXPIRED" : null;
}

/**
 * Whether a worker may commit or fail a step now: null when it may. `ready`: all lower ordinals are committed.
 *
 * @example
 * const step = { ordinal: 1, status: "LEASED", lease_owner: "w1", lease_expires_ms: 500, fencing_token: 1 } as const;
 * decideFinish(step, false, { worker: "w1", token: 1 }, 0); // => "STEP_OUT_OF_ORDER"
 */
export function decideFinish(
  step: HeldStep,
  ready: boolean,
  holder: Holder,
  now: number,
): LeaseRefusal | "STEP_OUT_OF_ORDER" | null {
  return decideRenewal(step, holder, now) ?? (ready ? null : "STEP_OUT_OF_ORDER");
}
