import { VerbatimError } from "../../../core/errors/index.ts";
import type { NewEntry, WriteTransaction } from "../../../core/ports.ts";
import { JOB_RECORDS } from "../contracts/records.ts";
import type { JobsStore, JobsWriter, StepPlace, StepRow } from "../ports.ts";
import { streamOf } from "./job-state.ts";
import { decideClaim, decideFinish, decideRenewal, type Holder, type LeaseRefusal } from "./lease.ts";
import type { Outcome } from "./receipt.ts";

export interface QueuePorts {
  readonly store: JobsStore;
}

/** Who works, and how long a lease of theirs lasts. */
export interface Worker {
  readonly name: string;
  readonly lease_ms: number;
}

/** A step to run, or why there is none. */
export type Claim = StepRow | "NO_STEP" | "JOB_DONE" | "JOB_FAILED";

/** Where the next step is looked for: in one job, perhaps only before a step, or in all open ones, oldest first. */
export type Wanted = { readonly job_id: string; readonly below?: number } | "any";

type JobsTransaction = WriteTransaction & { readonly jobs: JobsWriter };

// A job without a free step has a leased one, so there are never more of them than workers.
const OPEN_PAGE = 64;

/** Claims the lowest claimable step. */
export async function claimStep(ports: QueuePorts, wanted: Wanted, worker: Worker): Promise<Claim> {
  if (wanted === "any") {
    // Idle workers only read: a transaction would make those wait who have something to write.
    const open = await ports.store.read(({ jobs }) => jobs.openJobsAfter(0, 1));
    if (open.length === 0) return "NO_STEP";
  }
  return ports.store.transact((tx) => claimNext(tx, wanted, worker));
}

async function claimNext(tx: JobsTransaction, wanted: Wanted, worker: Worker): Promise<Claim> {
  if (wanted !== "any") return (await claimIn(tx, wanted.job_id, worker, wanted.below)).claim;
  for (let after = 0; ; ) {
    const page = await tx.jobs.openJobsAfter(after, OPEN_PAGE);
    for (const { job_id, number } of page) {
      const { claim } = await claimIn(tx, job_id, worker);
      if (typeof claim === "object") return claim;
      after = number;
    }
    if (page.length < OPEN_PAGE) return "NO_STEP";
  }
}

async function claimIn({ jobs }: JobsTransaction, job_id: string, worker: Worker, below = Number.POSITIVE_INFINITY) {
  const { now, ...view } = await jobs.viewForClaim(job_id);
  const { lowest } = view;
  const answer = decideClaim(view, now, worker.lease_ms);
  if (typeof answer === "string") return { claim: answer, lowest, now };
  if (answer.ordinal >= below) return { claim: "NO_STEP" as const, lowest, now };
  const { ordinal, token: fencing_token, expires: lease_expires_ms } = answer;
  const lease = { job_id, ordinal, lease_owner: worker.name, lease_expires_ms, fencing_token, now };
  return { claim: await jobs.lease(lease), lowest, now };
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
    await jobs.hold(streamOf(held.job_id));
    const view = await requireView(jobs, held);
    const refusal = decideRenewal(view.step, held, view.now);
    if (refusal === null) await ledger.append(streamOf(held.job_id), "next", [entry]);
    return refusal;
  });
}

export type Ended = "COMMITTED" | "FAILED";

export type Finish =
  | { readonly done: Ended }
  | { readonly refused: LeaseRefusal | "STEP_OUT_OF_ORDER"; readonly job_failed: boolean };

/**
 * Ends a step as its outcome says: ledger entries, receipt and state in one transaction. Nothing is written when the
 * lease is not held any more or a step before this one is not committed.
 */
export function finishStep(ports: QueuePorts, held: Held, outcome: Outcome): Promise<Finish> {
  return ports.store.transact(async (tx) => {
    // A step before this one that is being ended right now is waited for.
    await tx.jobs.hold(streamOf(held.job_id));
    const view = await requireView(tx.jobs, held);
    const refused = decideFinish(view.step, view.ready, held, view.now);
    if (refused !== null) return { refused, job_failed: view.failed };
    return { done: await settle(tx, held, outcome, view.now) };
  });
}

/** Outcomes of steps that are not claimed yet, by ordinal. */
export interface Prepared {
  readonly job_id: string;
  readonly outcomes: ReadonlyMap<number, Outcome>;
}

/**
 * Claims and ends prepared steps one after the other in one transaction, so that many cost one durable write and
 * nothing is held when the process dies. A step that was not prepared, or is not the next to take effect, is returned
 * as a claim like any other; null when all prepared steps have ended.
 */
export function finishPrepared(
  ports: QueuePorts,
  { job_id, outcomes }: Prepared,
  worker: Worker,
): Promise<{ readonly ended: readonly Ended[]; readonly claim: Claim | null }> {
  return ports.store.transact(async (tx) => {
    await tx.jobs.hold(streamOf(job_id));
    const ended: Ended[] = [];
    while (ended.length < outcomes.size) {
      const { claim, lowest, now } = await claimIn(tx, job_id, worker);
      const outcome = typeof claim === "object" ? outcomes.get(claim.step.ordinal) : undefined;
      if (typeof claim === "string" || outcome === undefined || lowest !== claim.step.ordinal) return { ended, claim };
      ended.push(await settle(tx, toHeld(claim, worker), outcome, now));
    }
    return { ended, claim: null };
  });
}

/** Entries, receipt, state. The caller has checked that the holder may. */
export async function settle(
  { ledger, jobs }: JobsTransaction,
  { job_id, ordinal, worker }: Held,
  { receipt, expansion }: Outcome,
  now: number,
): Promise<Ended> {
  const entries: NewEntry[] = [JOB_RECORDS.make("RECEIPT", worker, receipt)];
  if (expansion !== null) entries.unshift(JOB_RECORDS.make("EXPANSION", worker, expansion));
  // The entry has the canonical text of the receipt and its hash already.
  const { body, body_hash } = (await ledger.append(streamOf(job_id), "next", entries)).at(-1)!;
  const status = receipt.status === "SUCCESS" ? "SUCCESS" : "FAILURE";
  const { step_id } = receipt;
  await jobs.settle({ job_id, ordinal, step_id, status, receipt: body, receipt_hash: body_hash, now });
  return status === "SUCCESS" ? "COMMITTED" : "FAILED";
}

async function requireView(jobs: JobsWriter, { job_id, ordinal }: StepPlace) {
  const view = await jobs.viewForChange({ job_id, ordinal });
  if (view !== null) return view;
  throw new VerbatimError("STEP_UNKNOWN", {
    message: `the job ${job_id} has no step ${ordinal}`,
    details: { job_id, ordinal },
  });
}
