import { compareCodePoints } from "../../../core/canonical/index.ts";
import { type ExpectedResult, validateExpectedResults } from "./expected-results.ts";
import type { ArtifactFinding } from "./finding.ts";
import { type Plan, type PlanContext, validatePlan } from "./plan.ts";
import { type Reason, validateReasons } from "./reasons.ts";

/** One reference that does not resolve. */
export interface PlanCheckError {
  readonly code: string;
  readonly id?: string;
  readonly item?: string;
  readonly message: string;
}

interface PlanCheckInput {
  readonly plan: Uint8Array | string;
  readonly reasons: Uint8Array | string;
  readonly expectedResults: Uint8Array | string;
  /** Ids of the behaviour catalogue; null when the repository has none. */
  readonly behaviorIds: readonly string[] | null;
  readonly context: PlanContext;
}

/**
 * The gate plan_check: all three files are valid and every reference resolves.
 *
 * @example
 * const context = { kind: "signed", knownGates: null } as const;
 * const errors = checkPlan({ plan: "", reasons: "", expectedResults: "", behaviorIds: null, context });
 * errors.map(({ code }) => code); // => ["EXPECTED_RESULTS_INVALID", "PLAN_INVALID", "REASONS_INVALID"]
 */
export function checkPlan(input: PlanCheckInput): PlanCheckError[] {
  const plan = validatePlan(input.plan, input.context).value;
  const reasons = validateReasons(input.reasons).value;
  const results = validateExpectedResults(input.expectedResults).value;
  const invalid: PlanCheckError[] = [];
  if (plan === null) invalid.push({ code: "PLAN_INVALID", message: "the plan is not valid" });
  if (reasons === null) invalid.push({ code: "REASONS_INVALID", message: "REASONS.md is not valid" });
  if (results === null) {
    invalid.push({ code: "EXPECTED_RESULTS_INVALID", message: "EXPECTED_RESULTS.md is not valid" });
  }
  if (plan === null || reasons === null || results === null) return sorted(invalid);
  return sorted(resolveReferences(plan, reasons, results, input.behaviorIds));
}

/** An error of plan_check as a finding about a plan. */
export function toPlanFinding({ code, id, item, message }: PlanCheckError, file: string): ArtifactFinding {
  return {
    code,
    file,
    line: null,
    ...(id === undefined ? {} : { key: id }),
    ...(item === undefined ? {} : { item }),
    message,
    fix: "Make the plan, the reasons and the results agree.",
  };
}

function resolveReferences(
  plan: Plan,
  reasons: readonly Reason[],
  results: Readonly<Record<string, ExpectedResult>>,
  behaviorIds: readonly string[] | null,
): PlanCheckError[] {
  const errors: PlanCheckError[] = [];
  if (behaviorIds !== null && plan.behaviors.length === 0) {
    errors.push({
      code: "PLAN_BEHAVIORS_EMPTY",
      message: "the repository has a catalogue, so the plan must select from it",
    });
  }
  for (const id of new Set(plan.behaviors)) {
    if (behaviorIds?.includes(id) !== true) {
      errors.push({ code: "PLAN_BEHAVIOR_UNRESOLVED", id, message: `${id} is not in the behaviour index` });
    }
  }
  for (const id of new Set(plan.results)) {
    if (!Object.hasOwn(results, id)) {
      errors.push({ code: "PLAN_RESULT_UNRESOLVED", id, message: `${id} has no entry in EXPECTED_RESULTS.md` });
    }
  }
  const selected = new Set([...plan.behaviors, ...plan.results]);
  for (const id of new Set(reasons.flatMap(({ refs }) => refs))) {
    if (!selected.has(id)) {
      errors.push({
        code: "REASON_REF_UNRESOLVED",
        id,
        message: `a reason cites ${id}, which the plan does not select`,
      });
    }
  }
  for (const [id, result] of Object.entries(results)) {
    for (const gate of new Set(result.related_gates)) {
      if (!plan.gates.includes(gate)) {
        errors.push({
          code: "EXPECTED_GATE_UNDECLARED",
          id,
          item: gate,
          message: `${id} relates to the gate ${gate}, which the plan does not declare`,
        });
      }
    }
  }
  return errors;
}

function sorted(errors: readonly PlanCheckError[]): PlanCheckError[] {
  return [...errors].sort(
    (a, b) =>
      compareCodePoints(a.code, b.code) ||
      compareCodePoints(a.id ?? "", b.id ?? "") ||
      compareCodePoints(a.item ?? "", b.item ?? ""),
  );
}
