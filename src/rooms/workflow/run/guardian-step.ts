import { EXPECTED_RESULTS_FILE } from "../artifacts/expected-results.ts";
import { formatGuardianReview, reviewAsGuardian } from "../artifacts/guardian.ts";
import { PLAN_DRAFT_FILE, validatePlan } from "../artifacts/plan.ts";
import { checkPlan } from "../artifacts/plan-check.ts";
import { REASONS_FILE } from "../artifacts/reasons.ts";
import { REVIEW_CONTRACT_FILE } from "../artifacts/review.ts";
import type { Session } from "./session.ts";

/** The step `review_contract`: the same draft always gets the same review. */
export async function runGuardianStep(session: Session): Promise<string> {
  const { run } = session;
  const { config } = run.ports;
  const draft = run.read(PLAN_DRAFT_FILE)!;
  const context = { kind: "draft", knownGates: run.knownGates } as const;
  const review = reviewAsGuardian({
    plan: validatePlan(draft, context).value,
    planCheck: checkPlan({
      plan: draft,
      reasons: run.read(REASONS_FILE)!,
      expectedResults: run.read(EXPECTED_RESULTS_FILE)!,
      behaviorIds: run.behaviorIds(),
      context,
    }),
    guardrails: run.guardrails()!,
    policy: run.state.policy,
    contractDocs: config.mandatory_docs.map(({ path }) => path),
    // The explicit command of a direct run counts as the permission.
    allowRootScope: config.guardian.allow_root_scope || run.isDirect,
    allowContractEdits: config.guardian.allow_contract_edits,
  });
  run.folder.write(REVIEW_CONTRACT_FILE, formatGuardianReview(review, run.hash(PLAN_DRAFT_FILE)!));
  const { [REVIEW_CONTRACT_FILE]: _, ...reviews } = run.state.reviews;
  run.save({ reviews });
  await session.event("contract_guardian", "REVIEW_WRITTEN", REVIEW_CONTRACT_FILE, { verdict: review.verdict });
  return review.verdict;
}
