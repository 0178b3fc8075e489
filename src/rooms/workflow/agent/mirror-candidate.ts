import { formatArtifact } from "../artifacts/json.ts";
import { PLAN_FILE } from "../artifacts/plan.ts";
import { VERIFY_REPORT_FILE } from "../artifacts/verify-report.ts";
import type { Candidate } from "../contracts/candidate.ts";
import { PATCH_FILE } from "../dispatch/next-step.ts";
import type { PatchResult } from "../patch/patch-gate.ts";
import { REVIEW_PATCH_FILE } from "../patch/patch-review.ts";
import { PATCH_GATE_FILE, type PatchGateRecord } from "../run/gate/gate-record.ts";
import { storeArtifact } from "../run/gate/receive.ts";
import { archive, currentCandidate, markCandidate } from "../run/record/candidates.ts";
import type { CandidateState, RunState } from "../run/record/run-state.ts";
import type { Run } from "../run/run.ts";
import type { Session } from "../run/session.ts";

/**
 * The artifacts of a workflow run always speak of the newest candidate, so that every tool that reads one goes on
 * working. What belongs to an earlier candidate goes; it is kept with its own.
 */
export async function mirrorPatch(session: Session, patch: Uint8Array | null): Promise<void> {
  const { run } = session;
  for (const path of [PATCH_GATE_FILE, VERIFY_REPORT_FILE, REVIEW_PATCH_FILE]) run.folder.remove(path);
  if (patch === null) return run.folder.remove(PATCH_FILE);
  if (run.hash(PATCH_FILE) !== run.ports.crypto.sha256(patch)) {
    await storeArtifact(session, PATCH_FILE, patch, "patchmaker");
  }
}

/** patch_gate.json for the text part of a candidate. */
export function mirrorGate(run: Run, candidate: Candidate, result: PatchResult): void {
  const record: PatchGateRecord = {
    schema_version: "verbatim-patch-gate-v1",
    patch_sha256: candidate.patch_sha256!,
    plan_sha256: run.hash(PLAN_FILE)!,
    base_tree: candidate.base.tree,
    result,
    judged_at: run.now(),
    post_images: candidate.files
      .filter(({ kind, hunks }) => kind === "text" || hunks !== undefined)
      .map(({ path, mode, sha256 }) => ({ path, mode, sha256 })),
  };
  run.folder.write(PATCH_GATE_FILE, formatArtifact(record));
}

/** What RUN.json says of the patch that is in the run. */
export function markMirrored(
  run: Run,
  state: CandidateState,
  code?: string,
  more: Partial<Pick<RunState, "in_progress">> = {},
): void {
  if (currentCandidate(run) !== undefined) {
    markCandidate(run, state, code, more);
    return;
  }
  const { candidates } = run.state;
  const record = {
    sha256: run.hash(PATCH_FILE)!,
    plan_sha256: run.hash(PLAN_FILE)!,
    state,
    iteration: candidates.length + 1,
    ...(code === undefined ? {} : { code }),
  };
  run.save({ candidates: [...candidates, record], ...more });
  archive(run, PATCH_FILE);
  archive(run, PATCH_GATE_FILE);
}
