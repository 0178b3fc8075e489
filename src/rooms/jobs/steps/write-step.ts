import { VerbatimError } from "../../../core/errors/index.ts";
import { JOB_RECORDS } from "../contracts/records.ts";
import type { PatchEffect, PatchPort } from "../ports.ts";
import { toFailure } from "./failure.ts";
import { streamOf } from "./job-state.ts";
import { appendHeld, type QueuePorts, renewLease } from "./queue.ts";
import { type Outcome, toFailureOutcome, toWriteOutcome } from "./receipt.ts";
import type { Attempt } from "./step-run.ts";

const PAGE = 500;
const LEASE_MS = 60_000;

type Hashes = Pick<PatchEffect, "base_sha256" | "result_sha256">;

/**
 * Applies a patch to its target, exactly once over all attempts: before the file is touched an entry says what it was
 * and what it will be, and whoever finds such an entry later looks at the file instead of patching again.
 */
export async function writeFile(
  ports: QueuePorts,
  port: PatchPort,
  attempt: Attempt,
  patch: string,
): Promise<Outcome | null> {
  const { row, job, held } = attempt;
  const file_path = row.resolved.file_path;
  const intent = await findIntent(ports, row.job_id, row.step.step_id, held.token);
  if (intent === null) {
    const effect = await port.judge(patch, file_path);
    if ("refused" in effect) return toFailureOutcome(job.run_id, row.step, toFailure(effect.refused));
    const outside = effect.files.filter((file) => file !== file_path);
    if (outside.length > 0) {
      throw new VerbatimError("WRITE_OUTSIDE_TARGET", { details: { file_path, files: [...outside] } });
    }
    const { base_sha256, result_sha256 } = effect;
    const body = { step_id: row.step.step_id, base_sha256, result_sha256 };
    const entry = JOB_RECORDS.make("WRITE_INTENT", held.worker, body);
    if ((await appendHeld(ports, held, entry)) !== null) return null;
    await port.apply(patch, file_path, effect);
  } else if (!(await resume(ports, port, attempt, patch, intent))) return null;
  await port.refresh(file_path);
  return toWriteOutcome(job.run_id, row);
}

/** Brings an attempt to its end that someone began; false when the lease is lost. */
async function resume(
  ports: QueuePorts,
  port: PatchPort,
  { row, held }: Attempt,
  patch: string,
  intent: Hashes,
): Promise<boolean> {
  const file_path = row.resolved.file_path;
  const actual_sha256 = await port.fingerprint(file_path);
  if (actual_sha256 === intent.result_sha256) return true;
  if (actual_sha256 !== intent.base_sha256) {
    throw new VerbatimError("WRITE_STATE_UNKNOWN", { details: { file_path, ...intent, actual_sha256 } });
  }
  if ((await renewLease(ports, held, LEASE_MS)) !== null) return false;
  await port.apply(patch, file_path, { files: [file_path], ...intent });
  return true;
}

/** What an earlier attempt said it would do. The first attempt has none before it. */
async function findIntent(ports: QueuePorts, jobId: string, stepId: string, token: number): Promise<Hashes | null> {
  if (token === 1) return null;
  return ports.store.read(async ({ ledger }) => {
    for (let from = 0; ; from += PAGE) {
      const page = await ledger.readStream(streamOf(jobId), from, PAGE);
      for (const entry of page.filter(({ kind }) => kind === "WRITE_INTENT")) {
        const { kind, body } = JOB_RECORDS.read(entry);
        if (kind !== "WRITE_INTENT" || body.step_id !== stepId) continue;
        return { base_sha256: body.base_sha256, result_sha256: body.result_sha256 };
      }
      if (page.length < PAGE) return null;
    }
  });
}
