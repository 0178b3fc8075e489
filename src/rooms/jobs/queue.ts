import { hashCanonical, type JsonObject } from "../../core/canonical/index.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import type { NewEntry, SyncCrypto, WriteDoor } from "../../core/ports.ts";
import { streamOf } from "./job-state.ts";
import { decideClaim, decideFinish, decideRenewal, type Holder, type LeaseRefusal } from "./lease.ts";
import type { JobsStore, JobsWriter, StepPlace, StepRow } from "./ports.ts";
import type { Outcome } from "./receipt.ts";

export interface QueuePorts {
  readonly store: JobsStore;
  readonly crypto: SyncCrypto;
}

/** Who works, and how long a lease of theirs lasts. */
export interface Worker {
  readonly name: string;
  readonly lease_ms: number;
}

/** A step to run, or why there is none. */
export type Claim = StepRow | "NO_STEP" | "JOB_DONE" | "JOB_FAILED";

/** Where the next step is looked for: in one job, or in all open ones, oldest first. */
export type Wanted = { readonly job_id: string } | "any";

type JobsDoor = WriteDoor & { readonly jobs: JobsWriter };

// A job without a free step has a leased one, so there are never more of them than workers.
const OPEN_PAGE = 64;

/** Claims the lowest claimable step. */
export async function claimStep(ports: QueuePorts, wanted: Wanted, worker: Worker): Promise<Claim> {
  if (wanted === "any") {
    // Idle workers only read: a transaction would make those wait who have something to write.
    const open = await ports.store.read(({ jobs }) => jobs.openJobsAfter(0, 1));
    if (open.length === 0) return "NO_STEP";
  }
  return ports.store.transact((door) => claimNext(door, wanted, worker));
}

async function claimNext(door: JobsDoor, wanted: Wanted, worker: Worker): Promise<Claim> {
  if (wanted !== "any") return claimIn(door, wanted.job_id, worker);
  for (let after = 0; ; ) {
    const page = await door.jobs.openJobsAfter(after, OPEN_PAGE);
    for (const { job_id, number } of page) {
      const claim = await claimIn(door, job_id, worker);
      if (typeof claim === "object") return claim;
      after = number;
    }
    if (page.length < OPEN_PAGE) return "NO_STEP";
  }
}

async function claimIn({ jobs }: JobsDoor, job_id: string, worker: Worker): Promise<Claim> {
  const view = await jobs.viewForClaim(job_id);
  const answer = decideClaim(view, view.now, worker.lease_ms);
  if (typeof answer === "string") return answer;
  return jobs.lease({
    job_id,
    ordinal: answer.ordinal,
    lease_owner: worker.name,
    lease_expires_ms: answer.expires,
    fencing_token: answer.token,
    now: view.now,
  });
}

/** What a worker says it holds. */
export interface Held extends StepPlace, Holder {}

export function toHeld(row: StepRow, worker: Worker): Held {
  return { job_id: row.job_id, ordinal: row.step.ordinal, worker: worker.name, token: row.fencing_token };
}

/** Makes a lease last longer; null when it does. */
export function renewLease(ports: QueuePorts, held: Held, lease_ms: number): Promise<LeaseRefusal | null> {
  return ports.store.transact(async ({ jobs }) => {
    const view = await requireView(jobs, held);
    const refusal = decideRenewal(view.step, held, view.now);
    if (refusal !== null) return refusal;
    const { job_id, ordinal, worker, token } = held;
    const lease_expires_ms = view.now + lease_ms;
    await jobs.lease({ job_id, ordinal, lease_owner: worker, lease_expires_ms, fencing_token: token, now: view.now });
    return null;
  });
}

/** Appends an entry to the stream of a step's job while the step is held; otherwise says why not. */
export function appendHeld(ports: QueuePorts, held: Held, entry: NewEntry): Promise<LeaseRefusal | null> {
  return ports.store.transact(async ({ ledger, jobs }) => {
    await ledger.head(streamOf(held.job_id));
    const view = await requireView(jobs, held);
    const refusal = decideRenewal(view.step, held, view.now);
    if (refusal === null) await ledger.append(streamOf(held.job_id), "next", [entry]);
    return refusal;
  });
}

export type Finish =
  | { readonly done: "COMMITTED" | "FAILED"; readonly next: Claim | null }
  | { readonly refused: LeaseRefusal | "STEP_OUT_OF_ORDER"; readonly job_failed: boolean };

/**
 * Ends a step as its outcome says: ledger entries, receipt and state in one transaction, and in the same one the claim
 * of the next step, so that a step costs one durable write. Nothing is written when the lease is not held any more.
 */
export function finishStep(
  ports: QueuePorts,
  held: Held,
  outcome: Outcome,
  next: { readonly wanted: Wanted; readonly worker: Worker } | null,
): Promise<Finish> {
  return ports.store.transact(async (door) => {
    // Holds the stream: a step before this one that is being ended right now is waited for.
    await door.ledger.head(streamOf(held.job_id));
    const view = await requireView(door.jobs, held);
    const refused = decideFinish(view.step, view.ready, held, view.now);
    if (refused !== null) return { refused, job_failed: view.failed };
    await settle(ports, door, held, outcome, view.now);
    const claim = next === null ? null : await claimNext(door, next.wanted, next.worker);
    return { done: outcome.receipt.status === "SUCCESS" ? "COMMITTED" : "FAILED", next: claim };
  });
}

/** Entries, receipt, state. The caller has checked that the holder may. */
export async function settle(
  { crypto }: Pick<QueuePorts, "crypto">,
  { ledger, jobs }: JobsDoor,
  { job_id, ordinal, worker }: Held,
  { receipt, expansion }: Outcome,
  now: number,
): Promise<void> {
  const body = receipt as unknown as JsonObject;
  const entries: NewEntry[] = [{ kind: "RECEIPT", actor: worker, body }];
  if (expansion !== null) entries.unshift({ kind: "EXPANSION", actor: worker, body: expansion });
  await ledger.append(streamOf(job_id), "next", entries);
  await jobs.settle({ job_id, ordinal, receipt, receipt_hash: hashCanonical(crypto, body), now });
  await jobs.wake(job_id);
}

async function requireView(jobs: JobsWriter, { job_id, ordinal }: StepPlace) {
  const view = await jobs.viewForChange({ job_id, ordinal });
  if (view !== null) return view;
  throw new VerbatimError("STEP_UNKNOWN", {
    message: `the job ${job_id} has no step ${ordinal}`,
    details: { job_id, ordinal },
  });
}
