import type { JudgeContext } from "../../artifacts/artifact-kinds.ts";
import { EXPECTED_RESULTS_FILE } from "../../artifacts/expected-results.ts";
import { PLAN_DRAFT_FILE } from "../../artifacts/plan.ts";
import { REASONS_FILE } from "../../artifacts/reasons.ts";
import type { Run } from "../run.ts";

/** What the artifacts of a run are held against. */
export function judgeContext(run: Run): JudgeContext {
  const draft_sha256 = run.hash(PLAN_DRAFT_FILE);
  return {
    guardrails: run.guardrails(),
    knownGates: run.knownGates,
    declaredGates: null,
    draft: run.read(PLAN_DRAFT_FILE),
    review:
      draft_sha256 === null
        ? null
        : {
            draft_sha256,
            reasons_sha256: run.hash(REASONS_FILE),
            expected_results_sha256: run.hash(EXPECTED_RESULTS_FILE),
          },
  };
}
