import { formatArtifact } from "../../artifacts/json.ts";
import { PLAN_FILE, type Plan } from "../../artifacts/plan.ts";
import { PATCH_FILE } from "../../dispatch/next-step.ts";
import { judgePatchWithGit } from "../../patch/git-stage.ts";
import type { PatchResult } from "../../patch/patch-gate.ts";
import { formatPatchReview, REVIEW_PATCH_FILE } from "../../patch/patch-review.ts";
import type { PatchRejection } from "../../patch/rejection.ts";
import type { PostImage } from "../apply/snapshot.ts";
import { archive, markCandidate } from "../record/candidates.ts";
import { bundleFailure } from "../record/failure-bundle.ts";
import type { Run } from "../run.ts";
import type { Session } from "../session.ts";
import { findRejectionStop } from "../stop-rules.ts";
import { PATCH_GATE_FILE, type PatchGateRecord } from "./gate-record.ts";
import { fulfilPrompt } from "./receive.ts";

/** Judges the patch of a run against its base; local edits do not matter until apply. */
export function judgeRunPatch(run: Run, patch: Uint8Array, plan: Plan): Promise<PatchResult> {
  const { max_files, max_total_bytes } = plan.budgets;
  const gate = {
    patch,
    policy: run.state.policy,
    scope: { allow: plan.scope_allow, deny: plan.scope_deny },
    planLimits: { max_files, max_total_bytes },
    platform: run.ports.platform,
  };
  return judgePatchWithGit(gate, run.ports.git, run.base);
}

/** The step `patch_gate`: a candidate that was never judged under this plan. */
export async function runGateStep(session: Session): Promise<PatchResult> {
  const { run } = session;
  const plan = run.plan();
  const patch = run.read(PATCH_FILE)!;
  const sha256 = run.ports.crypto.sha256(patch);
  const plan_sha256 = run.hash(PLAN_FILE)!;
  const result = await judgeRunPatch(run, patch, plan);
  const accepted = result.verdict === "accept";
  const record = {
    sha256,
    plan_sha256,
    state: accepted ? "accepted" : "rejected",
    iteration: run.state.candidates.length + 1,
    ...(accepted ? {} : { code: result.code }),
  } as const;
  writeGateRecord(run, result);
  run.save({ candidates: [...run.state.candidates, record] });
  archive(run, PATCH_FILE);
  archive(run, PATCH_GATE_FILE);
  if (accepted) {
    await session.event("orchestrator", "PATCH_ACCEPTED", PATCH_FILE, { sha256, files: result.changed_paths.length });
    await fulfilPrompt(session, PATCH_FILE);
  } else await recordRejection(session, result, plan);
  return result;
}

/** Writes patch_gate.json for the patch and plan that are in the run. */
export function writeGateRecord(run: Run, result: PatchResult, post_images?: readonly PostImage[]): void {
  const record: PatchGateRecord = {
    schema_version: "verbatim-patch-gate-v1",
    patch_sha256: run.hash(PATCH_FILE)!,
    plan_sha256: run.hash(PLAN_FILE)!,
    base_tree: run.state.base_tree,
    result,
    judged_at: run.now(),
    ...(post_images === undefined ? {} : { post_images }),
  };
  run.folder.write(PATCH_GATE_FILE, formatArtifact(record));
}

/** A rejected candidate stays where it is; the fixer is told why, and the stop rules are asked. */
export async function recordRejection(session: Session, rejection: PatchRejection, plan: Plan): Promise<void> {
  const { run } = session;
  const sha256 = run.hash(PATCH_FILE)!;
  markCandidate(run, "rejected", rejection.code);
  run.folder.write(REVIEW_PATCH_FILE, formatPatchReview(rejection, run.read(PATCH_FILE)!, sha256));
  archive(run, REVIEW_PATCH_FILE);
  run.save({ patch_rejections: run.state.patch_rejections + 1 });
  const { code, rule } = rejection;
  await session.event("orchestrator", "PATCH_REJECTED", PATCH_FILE, { sha256, code, rule });
  const stop = findRejectionStop(run.state, plan, run.ports.config.limits.max_patch_rejections, rejection);
  if (stop === null) await bundleFailure(session);
  else await session.stop(stop.reason, stop.event);
}
