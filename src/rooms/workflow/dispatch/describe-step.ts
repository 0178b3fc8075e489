import { sayFinding } from "../artifacts/finding.ts";
import type { NextStep } from "./next-step.ts";

const SENTENCES: Readonly<Record<string, string>> = {
  RUN_PASS: "the run has passed; the patch is in the repository",
  RUN_STOPPED: "the run was stopped",
  BUDGET_TOO_SMALL: "the budget does not cover the mandatory documents: increase budget",
  MANDATORY_DOC_MISSING: "a mandatory document cannot be used",
  ARTIFACT_STALE: "the file request changed after the pack was made",
  PLAN_CHECK_FAILED: "plan, reasons and results do not agree",
  REVIEW_STALE: "what was reviewed has changed",
  REVIEW_BLOCKED: "a review blocks the plan",
  PLAN_DIFFERS_FROM_DRAFT: "the signed plan differs from the approved draft",
  CANDIDATE_UNJUDGED: "the patch has not been judged yet",
  PATCH_REJECTED: "the patch gate rejected the candidate",
  VERIFY_FAILED: "the candidate failed verification",
  CANDIDATE_ACCEPTED: "the candidate is waiting for verification",
  CANDIDATE_VERIFIED: "the candidate is verified and is waiting to be applied",
  CANDIDATE_UNVERIFIED: "the candidate passed the patch gate but was not verified; it is waiting to be applied",
  REPO_MOVED: "the repository is at a different commit than the run's base; check that commit out, the patch is kept",
  REPO_DIRTY: "tracked files in the repository have uncommitted changes; commit or stash them, the patch is kept",
};

/** What a step means, in one sentence. */
export function describeStep(step: NextStep): string {
  const said = SENTENCES[step.code];
  if (said !== undefined) return said;
  if (step.code === "ARTIFACT_MISSING") return `${step.target} does not exist yet`;
  const [first] = step.findings;
  if (step.code === "ARTIFACT_INVALID")
    return `${step.target} is not valid${first === undefined ? "" : `: ${first.code} ${sayFinding(first)}`}`;
  return step.code;
}
