import { defineTextContract, type TextContract, type TextProblem } from "../../../core/contracts/index.ts";
import { FINDINGS } from "../../../core/errors/index.ts";
import { findMissingHeadings, readBehaviorIndex } from "../artifacts/behaviors.ts";
import { validateExpectedResults } from "../artifacts/expected-results.ts";
import type { ArtifactFinding } from "../artifacts/finding.ts";
import { validateGuardrails } from "../artifacts/guardrails.ts";
import { validatePlan } from "../artifacts/plan.ts";
import { validateReasons } from "../artifacts/reasons.ts";
import { judgeReview } from "../artifacts/review.ts";
import { findPromptProblems } from "../dispatch/prompt.ts";
import { judgePatch } from "../patch/patch-gate.ts";
import { DEFAULT_POLICY } from "../patch/patch-policy.ts";
import { listRefusals } from "../patch/rejection.ts";

type Code = keyof typeof FINDINGS.workflow;

function says(...codes: Code[]): Record<string, string> {
  return Object.fromEntries(codes.map((code) => [code, FINDINGS.workflow[code]]));
}

/** What is absent is reported at the first line. */
function toProblems(findings: readonly ArtifactFinding[]): TextProblem[] {
  return findings.map(({ code, line, message }) => ({ code, line: line ?? 1, message }));
}

const encoder = new TextEncoder();

/** Contract objects that are text: a parser with line numbers takes the place of a schema. */
export const TEXT_CONTRACTS: readonly TextContract[] = [
  defineTextContract({
    room: "workflow",
    name: "guardrails",
    title: "Guardrails",
    summary: "artifacts/guardrails.md: the limits of a run, one key line each.",
    codes: says("GUARDRAILS_KEY_MISSING", "GUARDRAILS_KEY_DUPLICATE", "GUARDRAILS_VALUE_INVALID"),
    check: (text) => toProblems(validateGuardrails(text).errors),
  }),
  defineTextContract({
    room: "workflow",
    name: "workflow-plan",
    title: "Signed plan",
    summary: "artifacts/PLAN.md: scope, gates, stop conditions and budgets in a header block.",
    codes: says(
      "PLAN_KEY_MISSING",
      "PLAN_KEY_DUPLICATE",
      "PLAN_LIST_AMBIGUOUS",
      "PLAN_LIST_BRACKETS",
      "PLAN_LIST_EMPTY",
      "PLAN_STATUS",
      "PLAN_SCOPE_INVALID",
      "PLAN_GATE_INVALID",
      "PLAN_GATE_DUPLICATE",
      "PLAN_GATE_MISSING",
      "PLAN_STOP_INVALID",
      "PLAN_STOP_DUPLICATE",
      "PLAN_BUDGET_MISSING",
      "PLAN_BUDGET_INVALID",
      "PLAN_BUDGET_DUPLICATE",
      "PLAN_ID_INVALID",
      "PLAN_ID_DUPLICATE",
    ),
    check: (text) => toProblems(validatePlan(text, { kind: "signed", knownGates: null }).errors),
  }),
  defineTextContract({
    room: "workflow",
    name: "reasons",
    title: "Reasons",
    summary: "artifacts/REASONS.md: list items that each name a behaviour or a result.",
    codes: says("REASON_NO_REF", "REASONS_EMPTY"),
    check: (text) => toProblems(validateReasons(text).errors),
  }),
  defineTextContract({
    room: "workflow",
    name: "expected-results",
    title: "Expected results",
    summary: "artifacts/EXPECTED_RESULTS.md: acceptance, evidence and gates of every result.",
    codes: says(
      "EXPECTED_EMPTY",
      "EXPECTED_DUPLICATE",
      "EXPECTED_FIELD_MISSING",
      "EXPECTED_FIELD_DUPLICATE",
      "EXPECTED_FIELD_ORPHAN",
      "EVIDENCE_PATH_INVALID",
    ),
    check: (text) => toProblems(validateExpectedResults(text).errors),
  }),
  defineTextContract({
    room: "workflow",
    name: "behavior-index",
    title: "Behaviour index",
    summary: "docs/behaviors/INDEX.md: every behaviour with its page.",
    codes: says("BEHAVIOR_INDEX_DUPLICATE", "BEHAVIOR_INDEX_NO_PAGE", "BEHAVIOR_PAGE_ID_MISMATCH"),
    check: checkIndex,
  }),
  defineTextContract({
    room: "workflow",
    name: "behavior-page",
    title: "Behaviour page",
    summary: "docs/behaviors/B###-<slug>.md: reason, behaviour and result.",
    codes: says("BEHAVIOR_HEADING_MISSING"),
    check: (text) =>
      findMissingHeadings(text).map((heading) => ({
        code: "BEHAVIOR_HEADING_MISSING",
        line: 1,
        message: `there is no line ${heading}`,
      })),
  }),
  defineTextContract({
    room: "workflow",
    name: "review",
    title: "Review",
    summary: "reviews/review_contract.md and reviews/review_cost.md: a verdict about one draft.",
    codes: says(
      "REVIEW_VERDICT_UNCLEAR",
      "REVIEW_VERDICT_MISSING",
      "REVIEW_VERDICT_CONFLICT",
      "REVIEW_DRAFT_SHA_CONFLICT",
      "REVIEW_SECTION_MISSING",
      "REVIEW_CONTRADICTS",
    ),
    check: (text) => toProblems(judgeReview(text, null, "review.md").errors),
  }),
  defineTextContract({
    room: "workflow",
    name: "diff-patch",
    title: "Patch",
    summary: "artifacts/diff.patch: a unified diff in the small grammar the patch gate accepts.",
    codes: says("PATCH_PARSE_INVALID", "PATCH_PATH_INVALID", "PATCH_POLICY_DENY"),
    check: checkPatch,
  }),
  defineTextContract({
    room: "workflow",
    name: "outbox-prompt",
    title: "Outbox prompt",
    summary: "outbox/NNN_<role>_<action>.md: what a role is asked for.",
    codes: says("PROMPT_LINE_MISSING", "PROMPT_LINE_ORDER", "PROMPT_VALUE_INVALID"),
    check: findPromptProblems,
  }),
];

function checkIndex(text: string): TextProblem[] {
  const seen = new Set<string>();
  return readBehaviorIndex(text).flatMap(({ id, line, page }): TextProblem[] => {
    if (seen.has(id)) return [{ code: "BEHAVIOR_INDEX_DUPLICATE", line, message: `${id} appears twice` }];
    seen.add(id);
    if (page === null) return [{ code: "BEHAVIOR_INDEX_NO_PAGE", line, message: `${id} does not name a page` }];
    return page.startsWith(`${id}-`)
      ? []
      : [{ code: "BEHAVIOR_PAGE_ID_MISMATCH", line, message: `${id} names the page ${page}` }];
  });
}

function checkPatch(text: string): TextProblem[] {
  const { result } = judgePatch({ patch: encoder.encode(text), policy: DEFAULT_POLICY, scope: null, planLimits: null });
  if (result.verdict === "accept") return [];
  return listRefusals(result).map(({ code, rule, path }) => ({
    code,
    line: result.line ?? 1,
    message: path === undefined ? rule : `${rule} ${path}`,
  }));
}
