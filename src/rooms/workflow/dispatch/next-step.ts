import { CONTEXT_PACK_FILE, validateContextPack } from "../artifacts/context-pack.ts";
import { DISPATCH_FILE, type Dispatch, validateDispatch } from "../artifacts/dispatch.ts";
import { EXPECTED_RESULTS_FILE, validateExpectedResults } from "../artifacts/expected-results.ts";
import { FILE_REQUEST_FILE, validateFileRequest } from "../artifacts/file-request.ts";
import { FIND_RESULT_FILE, validateFindResult } from "../artifacts/find-result.ts";
import { FIND_WEB_FILE, validateFindWeb } from "../artifacts/find-web.ts";
import type { ArtifactFinding } from "../artifacts/finding.ts";
import { GUARDRAILS_FILE, type Guardrails, validateGuardrails } from "../artifacts/guardrails.ts";
import { PLAN_DRAFT_FILE, PLAN_FILE, validatePlan } from "../artifacts/plan.ts";
import { checkPlan, toPlanFinding } from "../artifacts/plan-check.ts";
import { matchPlan, toDifference } from "../artifacts/plan-match.ts";
import { REASONS_FILE, validateReasons } from "../artifacts/reasons.ts";
import { judgeReview, REVIEW_CONTRACT_FILE, REVIEW_COST_FILE, type ReviewResult } from "../artifacts/review.ts";
import { isBlankText } from "../artifacts/text.ts";
import type { CandidateRecord, RunFacts } from "../run/record/run-state.ts";

export const PATCH_FILE = "artifacts/diff.patch";
export const ANALYSIS_FILE = "artifacts/analysis.md";

/** What a run waits for or does next: one row of the state machine. */
export interface NextStep {
  readonly state: "pass" | "stopped" | "blocked" | "ready";
  readonly owner: string | null;
  readonly action: string | null;
  readonly target: string | null;
  readonly code: string;
  readonly findings: readonly ArtifactFinding[];
}

/** Everything the decision depends on. */
export interface RunView {
  readonly run: RunFacts;
  /** Bytes of a run file, or null. */
  readonly read: (path: string) => Uint8Array | null;
  readonly sha256: (bytes: Uint8Array) => string;
  readonly behaviorIds: readonly string[] | null;
  readonly knownGates: readonly string[];
  readonly requireAnalysis: boolean;
  readonly repo: { readonly headMatches: boolean; readonly clean: boolean };
}

/**
 * The first missing or invalid artifact decides. Pure: the same run, artifacts and facts give the same step.
 *
 * @example
 * declare const view: RunView;
 * const { owner, action, target } = findNextStep(view);
 */
export function findNextStep(view: RunView): NextStep {
  return new Decision(view).decide();
}

const MISSING = "ARTIFACT_MISSING";
const INVALID = "ARTIFACT_INVALID";

class Decision {
  readonly #view: RunView;
  #guardrails: Guardrails | null = null;
  #dispatch: Dispatch | null = null;

  constructor(view: RunView) {
    this.#view = view;
  }

  decide(): NextStep {
    const { run } = this.#view;
    if (run.status === "pass") return step("pass", null, null, null, "RUN_PASS");
    if (run.stop_reason !== null) return step("stopped", "operator", null, null, "RUN_STOPPED");
    return (
      this.#setUp() ??
      this.#find() ??
      this.#pack() ??
      this.#draft() ??
      this.#reviews() ??
      this.#signed() ??
      this.#patch()
    );
  }

  /** Rows 3 to 5. */
  #setUp(): NextStep | null {
    const dispatch = this.#view.read(DISPATCH_FILE);
    if (dispatch !== null) {
      const verdict = validateDispatch(dispatch);
      if (!verdict.ok) return blocked("operator", "dispatch_config", DISPATCH_FILE, INVALID, verdict.errors);
      this.#dispatch = verdict.value;
    }
    const guardrails = this.#view.read(GUARDRAILS_FILE);
    if (guardrails === null) return blocked("chair", "guardrails", GUARDRAILS_FILE, MISSING);
    const judged = validateGuardrails(guardrails);
    if (!judged.ok) return blocked("chair", "guardrails", GUARDRAILS_FILE, INVALID, judged.errors);
    this.#guardrails = judged.value;
    if (!this.#view.requireAnalysis) return null;
    const analysis = this.#view.read(ANALYSIS_FILE);
    if (analysis === null) return blocked("chair", "analysis", ANALYSIS_FILE, MISSING);
    return isBlankText(new TextDecoder().decode(analysis))
      ? blocked("chair", "analysis", ANALYSIS_FILE, INVALID)
      : null;
  }

  /** Rows 6 to 8. */
  #find(): NextStep | null {
    const { read } = this.#view;
    const guardrails = this.#guardrails!;
    const result = read(FIND_RESULT_FILE);
    if (result === null) return ready("orchestrator", "resolve", FIND_RESULT_FILE, MISSING);
    const found = validateFindResult(result);
    if (!found.ok) return ready("orchestrator", "resolve", FIND_RESULT_FILE, INVALID, found.errors);
    if (guardrails.find_mode === "resolver_plus_web") {
      const web = this.#require(
        FIND_WEB_FILE,
        "researcher",
        "find_web",
        (bytes) => validateFindWeb(bytes, guardrails).errors,
      );
      if (web !== null) return web;
    }
    return this.#require(
      FILE_REQUEST_FILE,
      "chair",
      "file_request",
      (bytes) => validateFileRequest(bytes, guardrails).errors,
    );
  }

  #require(
    file: string,
    owner: string,
    action: string,
    judge: (bytes: Uint8Array) => readonly ArtifactFinding[],
  ): NextStep | null {
    const bytes = this.#view.read(file);
    if (bytes === null) return blocked(owner, action, file, MISSING);
    const errors = judge(bytes);
    return errors.length > 0 ? blocked(owner, action, file, INVALID, errors) : null;
  }

  /** Row 9 in its three forms. */
  #pack(): NextStep | null {
    const { read, run, sha256 } = this.#view;
    const request = sha256(read(FILE_REQUEST_FILE)!);
    const bytes = read(CONTEXT_PACK_FILE);
    const verdict = bytes === null ? null : validateContextPack(bytes);
    const stale = run.context_pack.file_request_sha256 !== request;
    if (verdict?.ok === true && !stale) return null;
    const code = verdict === null ? MISSING : verdict.ok ? "ARTIFACT_STALE" : INVALID;
    if (run.context_pack.failed_request_sha256 === request) {
      const failed = run.context_pack.failed_code ?? INVALID;
      return failed === "BUDGET_TOO_SMALL"
        ? blocked("chair", "file_request", FILE_REQUEST_FILE, failed)
        : blocked("operator", "mandatory_docs", CONTEXT_PACK_FILE, failed);
    }
    const manual = this.#dispatch?.providers.librarian === "manual_outbox";
    const make = manual ? blocked : ready;
    return make("librarian", "context_pack", CONTEXT_PACK_FILE, code, verdict?.errors ?? []);
  }

  /** Rows 10 to 13. */
  #draft(): NextStep | null {
    const { read, knownGates, behaviorIds } = this.#view;
    const context = { kind: "draft", knownGates } as const;
    const missing =
      this.#require(PLAN_DRAFT_FILE, "chair", "plan_draft", (bytes) => validatePlan(bytes, context).errors) ??
      this.#require(REASONS_FILE, "chair", "reasons", (bytes) => validateReasons(bytes).errors) ??
      this.#require(
        EXPECTED_RESULTS_FILE,
        "chair",
        "expected_results",
        (bytes) => validateExpectedResults(bytes).errors,
      );
    if (missing !== null) return missing;
    const errors = checkPlan({
      plan: read(PLAN_DRAFT_FILE)!,
      reasons: read(REASONS_FILE)!,
      expectedResults: read(EXPECTED_RESULTS_FILE)!,
      behaviorIds,
      context,
    });
    if (errors.length === 0) return null;
    const findings = errors.map((error) => toPlanFinding(error, PLAN_DRAFT_FILE));
    return blocked("chair", "revise_plan", PLAN_DRAFT_FILE, "PLAN_CHECK_FAILED", findings);
  }

  /** Rows 14 to 16: both reviews are collected before a BLOCK sends the chair back. */
  #reviews(): NextStep | null {
    const contract = this.#review(REVIEW_CONTRACT_FILE);
    if (contract === null) return ready("contract_guardian", "review_contract", REVIEW_CONTRACT_FILE, MISSING);
    const badContract = toReviewCode(contract);
    if (badContract !== null) {
      return ready("contract_guardian", "review_contract", REVIEW_CONTRACT_FILE, badContract, contract.errors);
    }
    const cost = this.#review(REVIEW_COST_FILE);
    if (cost === null) return blocked("cost_controller", "review_cost", REVIEW_COST_FILE, MISSING);
    const badCost = toReviewCode(cost);
    if (badCost !== null) return blocked("cost_controller", "review_cost", REVIEW_COST_FILE, badCost, cost.errors);
    const blocking = contract.verdict === "BLOCK" || cost.verdict === "BLOCK";
    return blocking
      ? blocked("chair", "revise_plan", PLAN_DRAFT_FILE, "REVIEW_BLOCKED", toReasons(contract, cost))
      : null;
  }

  #review(file: string): ReviewResult | null {
    const { read, sha256, run } = this.#view;
    const bytes = read(file);
    if (bytes === null) return null;
    const context = {
      draft_sha256: sha256(read(PLAN_DRAFT_FILE)!),
      review_sha256: sha256(bytes),
      reasons_sha256: sha256(read(REASONS_FILE)!),
      expected_results_sha256: sha256(read(EXPECTED_RESULTS_FILE)!),
      record: run.reviews[file],
    };
    return judgeReview(bytes, context, file);
  }

  /** Row 17. */
  #signed(): NextStep | null {
    const { read, knownGates } = this.#view;
    const missing = this.#require(
      PLAN_FILE,
      "chair",
      "plan_signed",
      (bytes) => validatePlan(bytes, { kind: "signed", knownGates }).errors,
    );
    if (missing !== null) return missing;
    const match = matchPlan(read(PLAN_FILE)!, read(PLAN_DRAFT_FILE)!);
    if (match.match) return null;
    return blocked("chair", "plan_signed", PLAN_FILE, match.code, [toDifference(match, PLAN_FILE)]);
  }

  /** Rows 18 to 24. */
  #patch(): NextStep {
    const { read, sha256, run, repo } = this.#view;
    const bytes = read(PATCH_FILE);
    if (bytes === null || bytes.length === 0) {
      return run.candidates.length === 0
        ? blocked("patchmaker", "make_patch", PATCH_FILE, MISSING)
        : blocked("fixer", "fix_patch", PATCH_FILE, MISSING);
    }
    const candidate = findCandidate(run.candidates, sha256(bytes), sha256(read(PLAN_FILE)!));
    switch (candidate?.state) {
      case undefined:
        return ready("orchestrator", "patch_gate", PATCH_FILE, "CANDIDATE_UNJUDGED");
      case "rejected":
        return blocked("fixer", "fix_patch", PATCH_FILE, "PATCH_REJECTED");
      case "verify_failed":
        return blocked("fixer", "fix_patch", PATCH_FILE, "VERIFY_FAILED");
      case "accepted":
        return ready("verifier", "verify", "artifacts/verify_report.json", "CANDIDATE_ACCEPTED");
      case "verified":
      case "unverified":
        if (!repo.headMatches) return blocked("operator", "restore_base", "", "REPO_MOVED");
        if (!repo.clean) return blocked("operator", "clean_tree", "", "REPO_DIRTY");
        return ready(
          "orchestrator",
          "apply",
          PATCH_FILE,
          candidate.state === "verified" ? "CANDIDATE_VERIFIED" : "CANDIDATE_UNVERIFIED",
        );
      case "applied":
        return step("pass", null, null, null, "RUN_PASS");
    }
  }
}

/** The record of a patch under a plan. */
export function findCandidate(
  candidates: readonly CandidateRecord[],
  sha256: string,
  planSha256: string,
): CandidateRecord | undefined {
  return candidates.find((one) => one.sha256 === sha256 && one.plan_sha256 === planSha256);
}

function toReviewCode(review: ReviewResult): string | null {
  if (review.verdict === "INVALID") return INVALID;
  return review.verdict === "STALE" ? "REVIEW_STALE" : null;
}

function toReasons(contract: ReviewResult, cost: ReviewResult): ArtifactFinding[] {
  const files = [
    [REVIEW_CONTRACT_FILE, contract],
    [REVIEW_COST_FILE, cost],
  ] as const;
  return files.flatMap(([file, review]) =>
    review.verdict !== "BLOCK"
      ? []
      : review.sections["Blocking Reasons"].map((message) => ({
          code: "REVIEW_BLOCKED",
          file,
          line: null,
          message: message.trim(),
          fix: review.sections["Required Fix/Artifacts"].map((line) => line.trim()).join(" "),
        })),
  );
}

function step(
  state: NextStep["state"],
  owner: string | null,
  action: string | null,
  target: string | null,
  code: string,
  findings: readonly ArtifactFinding[] = [],
): NextStep {
  return { state, owner, action, target, code, findings };
}

function blocked(
  owner: string,
  action: string,
  target: string,
  code: string,
  findings: readonly ArtifactFinding[] = [],
) {
  return step("blocked", owner, action, target, code, findings);
}

function ready(owner: string, action: string, target: string, code: string, findings: readonly ArtifactFinding[] = []) {
  return step("ready", owner, action, target, code, findings);
}
