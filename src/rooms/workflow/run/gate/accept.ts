import { CONTEXT_PACK_FILE } from "../../artifacts/context-pack.ts";
import { DISPATCH_FILE } from "../../artifacts/dispatch.ts";
import { EXPECTED_RESULTS_FILE } from "../../artifacts/expected-results.ts";
import { FILE_REQUEST_FILE } from "../../artifacts/file-request.ts";
import { FIND_RESULT_FILE } from "../../artifacts/find-result.ts";
import { FIND_WEB_FILE } from "../../artifacts/find-web.ts";
import { GUARDRAILS_FILE } from "../../artifacts/guardrails.ts";
import { PLAN_DRAFT_FILE, PLAN_FILE } from "../../artifacts/plan.ts";
import { REASONS_FILE } from "../../artifacts/reasons.ts";
import { REVIEW_CONTRACT_FILE, REVIEW_COST_FILE } from "../../artifacts/review.ts";
import { ANALYSIS_FILE, type NextStep } from "../../dispatch/next-step.ts";
import type { Run } from "../run.ts";
import type { Session } from "../session.ts";
import { fulfilPrompt } from "./receive.ts";

/** The artifacts in the order in which the gates look at them. */
const ORDER = [
  DISPATCH_FILE,
  GUARDRAILS_FILE,
  ANALYSIS_FILE,
  FIND_RESULT_FILE,
  FIND_WEB_FILE,
  FILE_REQUEST_FILE,
  CONTEXT_PACK_FILE,
  PLAN_DRAFT_FILE,
  REASONS_FILE,
  EXPECTED_RESULTS_FILE,
  REVIEW_CONTRACT_FILE,
  REVIEW_COST_FILE,
  PLAN_FILE,
];
const REVIEWS = [REVIEW_CONTRACT_FILE, REVIEW_COST_FILE];

/** Writes down which artifacts the gates have let pass, and what each review was about when it was first accepted. */
export async function acceptArtifacts(session: Session, step: NextStep): Promise<void> {
  const { run } = session;
  for (const path of listAccepted(step)) {
    const sha256 = run.hash(path);
    if (sha256 === null || run.state.artifacts[path] === sha256) continue;
    const event = path in run.state.artifacts ? "ARTIFACT_CHANGED" : "ARTIFACT_ACCEPTED";
    run.save({ artifacts: { ...run.state.artifacts, [path]: sha256 } });
    await session.event("orchestrator", event, path, { sha256 });
    await fulfilPrompt(session, path);
    if (path === PLAN_FILE) await session.event("chair", "PLAN_SIGNED", path, { sha256 });
  }
  if (step.code !== "REVIEW_STALE") recordReviews(run, step);
}

function listAccepted(step: NextStep): string[] {
  // Sending the chair back from plan_check or a review concerns the draft, not what came before it.
  const at = step.target === null ? ORDER.length : ORDER.indexOf(step.target);
  return at === -1 ? ORDER : ORDER.slice(0, at);
}

function recordReviews(run: Run, step: NextStep): void {
  const accepted = listAccepted(step);
  for (const path of REVIEWS.filter((review) => accepted.includes(review))) {
    const review_sha256 = run.hash(path);
    if (review_sha256 === null || run.state.reviews[path]?.review_sha256 === review_sha256) continue;
    const record = {
      review_sha256,
      draft_sha256: run.hash(PLAN_DRAFT_FILE)!,
      reasons_sha256: run.hash(REASONS_FILE)!,
      expected_results_sha256: run.hash(EXPECTED_RESULTS_FILE)!,
    };
    run.save({ reviews: { ...run.state.reviews, [path]: record } });
  }
}
