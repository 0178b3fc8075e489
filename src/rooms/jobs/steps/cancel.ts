import { VerbatimError } from "../../../core/errors/index.ts";
import { formatTime } from "../../../core/time.ts";
import type { StepRow } from "../ports.ts";
import { requireFacts, streamOf } from "./job-state.ts";
import { type QueuePorts, settle } from "./queue.ts";
import { toFailureOutcome } from "./receipt.ts";

/** The step that was failed, or null when the job was finished already. */
interface Cancelled {
  readonly ordinal: number | null;
}

// Long enough for the one transaction that takes the step and fails it.
const LEASE_MS = 60_000;

/** Fails the lowest step that is not final, so that nothing further of the job runs; JOB_BUSY while it is leased. */
export function cancelJob(ports: QueuePorts, job_id: string, actor: string): Promise<Cancelled> {
  return ports.store.transact(async (tx) => {
    const { run_id } = await requireFacts(tx.jobs, job_id);
    await tx.jobs.hold(streamOf(job_id));
    const view = await tx.jobs.viewForClaim(job_id);
    if (view.failed || view.lowest === null) return { ordinal: null };
    const place = { job_id, ordinal: view.lowest };
    const { step, now } = (await tx.jobs.viewForChange(place))!;
    if (step.status === "LEASED" && now < step.lease_expires_ms!) {
      throw busy(job_id, [(await tx.jobs.step(job_id, view.lowest))!]);
    }
    const row = await tx.jobs.lease({
      ...place,
      lease_owner: actor,
      lease_expires_ms: now + LEASE_MS,
      fencing_token: step.fencing_token + 1,
      now,
    });
    const outcome = toFailureOutcome(run_id, row.step, { code: "JOB_CANCELLED", details: {} });
    await settle(tx, { ...place, worker: actor, token: row.fencing_token }, outcome, now);
    return { ordinal: view.lowest };
  });
}

/** JOB_BUSY: who holds which step until when. */
export function busy(job_id: string, rows: readonly StepRow[]): VerbatimError {
  const leases = rows.map(({ step, lease_owner, lease_expires_ms }) => ({
    ordinal: step.ordinal,
    lease_owner,
    lease_expires_ms,
  }));
  const list = leases.map(
    ({ ordinal, lease_owner, lease_expires_ms }) =>
      `step ${ordinal} to ${lease_owner} until ${formatTime(lease_expires_ms ?? 0)}`,
  );
  return new VerbatimError("JOB_BUSY", {
    message: `steps of ${job_id} are leased: ${list.join(", ")}`,
    details: { job_id, leases },
  });
}
