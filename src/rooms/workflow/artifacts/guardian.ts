import type { Guardrails } from "./guardrails.ts";
import type { Plan } from "./plan.ts";
import type { PlanCheckError } from "./plan-check.ts";
import { coversFolded, judgeScope } from "./scope.ts";

/** One thing the contract guardian has to say about a draft. */
interface GuardianFinding {
  readonly code: string;
  readonly item: string;
  readonly message: string;
  readonly fix: string;
}

interface GuardianReview {
  readonly verdict: "APPROVE" | "BLOCK";
  readonly blocking: readonly GuardianFinding[];
  readonly notes: readonly GuardianFinding[];
}

interface GuardianInput {
  /** Null when the draft is not valid. */
  readonly plan: Plan | null;
  readonly planCheck: readonly PlanCheckError[];
  readonly guardrails: Pick<Guardrails, "max_iterations">;
  readonly policy: { readonly deny_prefixes: readonly string[]; readonly max_files: number };
  readonly contractDocs: readonly string[];
  readonly allowRootScope: boolean;
  readonly allowContractEdits: boolean;
}

/** Reviews a draft without judgement of its own: the same draft always gets the same review. */
export function reviewAsGuardian(input: GuardianInput): GuardianReview {
  const { plan } = input;
  if (plan === null || input.planCheck.length > 0) return blockedByCheck(input);
  const blocking: GuardianFinding[] = [];
  const scope = { allow: plan.scope_allow, deny: plan.scope_deny };
  if (!input.allowRootScope && scope.allow.includes(".")) {
    blocking.push({
      code: "GUARDIAN_SCOPE_ROOT",
      item: ".",
      message: "the plan allows the whole repository",
      fix: "Name the folders that must change, or set workflow.guardian.allow_root_scope.",
    });
  }
  const denied = [...input.policy.deny_prefixes.map((prefix) => prefix.replace(/\/+$/, "")), ...scope.deny];
  for (const item of scope.allow) {
    if (item === "." || !denied.some((entry) => entry !== "" && coversFolded(entry, item))) continue;
    blocking.push({
      code: "GUARDIAN_SCOPE_UNREACHABLE",
      item,
      message: `${item} is both allowed and denied`,
      fix: "Remove it from Scope-Allow, or the deny entry that covers it.",
    });
  }
  for (const item of input.allowContractEdits ? [] : input.contractDocs) {
    if (judgeScope(scope, item) !== "ok") continue;
    blocking.push({
      code: "GUARDIAN_CONTRACT_DOC_IN_SCOPE",
      item,
      message: `the plan's scope includes the contract document ${item}`,
      fix: `Add ${item} to Scope-Deny, or set workflow.guardian.allow_contract_edits.`,
    });
  }
  return { verdict: blocking.length > 0 ? "BLOCK" : "APPROVE", blocking, notes: findNotes(plan, input) };
}

function blockedByCheck({ plan, planCheck }: GuardianInput): GuardianReview {
  const errors =
    plan === null ? ["PLAN_INVALID"] : planCheck.map(({ code, id }) => (id === undefined ? code : `${code} ${id}`));
  return {
    verdict: "BLOCK",
    blocking: errors.map((item) => ({
      code: "GUARDIAN_PLAN_CHECK",
      item,
      message: `plan_check fails: ${item}`,
      fix: "Make the draft, REASONS.md and EXPECTED_RESULTS.md pass plan_check.",
    })),
    notes: [],
  };
}

function findNotes(plan: Plan, { guardrails, policy }: GuardianInput): GuardianFinding[] {
  const above = [
    ["max_iterations", plan.budgets.max_iterations, guardrails.max_iterations, "the guardrails'"],
    ["max_files", plan.budgets.max_files, policy.max_files, "the patch policy's"],
  ] as const;
  return above
    .filter(([, asked, most]) => asked > most)
    .map(([item, asked, most, whose]) => ({
      code: "GUARDIAN_BUDGET_ABOVE",
      item,
      message: `${item} ${asked} is above ${whose} ${most}; the smaller number is used`,
      fix: "Nothing needs to be done.",
    }));
}

/** The text of reviews/review_contract.md. */
export function formatGuardianReview(review: GuardianReview, draftSha256: string): string {
  const lines = ["# Contract review", "", `Draft-SHA256: ${draftSha256}`, `Verdict: ${review.verdict}`, ""];
  const list = (items: readonly string[]) => (items.length === 0 ? ["- none"] : items.map((item) => `- ${item}`));
  lines.push("Blocking Reasons:", ...list(review.blocking.map(({ code, message }) => `${code}: ${message}`)), "");
  lines.push("Required Fix/Artifacts:", ...list(review.blocking.map(({ fix }) => fix)), "");
  if (review.notes.length > 0) {
    lines.push("## Notes", "", ...review.notes.map(({ code, message }) => `- ${code}: ${message}`), "");
  }
  return lines.join("\n");
}
