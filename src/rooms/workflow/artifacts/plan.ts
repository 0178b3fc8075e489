import { type ArtifactFinding, sortedByLine, toVerdict, type Verdict } from "./finding.ts";
import { PLAN_KEYS, type PlanEntry, type PlanKey, readPlanHeader } from "./plan-header.ts";
import { type BUDGETS, PlanItems, readBudgets, readStop } from "./plan-values.ts";
import { normalizeScopeEntry } from "./scope.ts";
import { readLines } from "./text.ts";

export const PLAN_FILE = "artifacts/PLAN.md";
export const PLAN_DRAFT_FILE = "artifacts/PLAN_draft.md";

/** Gates every plan must name (Artifact Contracts F). */
export const REQUIRED_GATES = ["lite", "plan_check", "patch_check", "behavior_catalog_check"] as const;
/** Gates the product runs itself. */
export const BUILT_IN_GATES = ["plan_check", "patch_check", "behavior_catalog_check"] as const;

/** A plan as its header block says it. */
export interface Plan {
  readonly status: "SIGNED" | "DRAFT";
  readonly scope_allow: readonly string[];
  readonly scope_deny: readonly string[];
  readonly gates: readonly string[];
  readonly stop: Readonly<Record<string, string>>;
  readonly budgets: Readonly<Record<(typeof BUDGETS)[number], number>>;
  readonly behaviors: readonly string[];
  readonly results: readonly string[];
}

export interface PlanContext {
  readonly kind: "signed" | "draft";
  /** Gates that can run: built-in and configured ones. Null outside a run. */
  readonly knownGates: readonly string[] | null;
}

/**
 * Judges PLAN.md or PLAN_draft.md.
 *
 * @example
 * validatePlan("", { kind: "draft", knownGates: null }).value; // => null
 */
export function validatePlan(bytes: Uint8Array | string, context: PlanContext, file?: string): Verdict<Plan> {
  const name = file ?? (context.kind === "signed" ? PLAN_FILE : PLAN_DRAFT_FILE);
  const { lines, error } = readLines(bytes, name);
  if (error !== null) return toVerdict<Plan>([error], [], null);
  const { entries, errors, warnings } = readPlanHeader(lines, name);
  const findings = { file: name, errors: [...errors], warnings: [...warnings] };
  for (const key of PLAN_KEYS) if (!entries.has(key)) findings.errors.push(missingKey(key, name));
  const list = (key: PlanKey) => new PlanItems(entries.get(key), findings);
  const plan = {
    status: readStatus(entries.get("Status"), context.kind, findings.errors, name),
    scope_allow: readScope(list("Scope-Allow"), "allow"),
    scope_deny: readScope(list("Scope-Deny"), "deny"),
    gates: readGates(list("Gates"), context.knownGates),
    stop: readStop(list("Stop")),
    budgets: readBudgets(list("Budgets")),
    behaviors: readIds(list("Behaviors"), /^B[0-9]{3}$/, true),
    results: readIds(list("Results"), /^R[0-9]{3}$/, false),
  };
  return toVerdict(
    sortedByLine(findings.errors, PLAN_KEYS),
    sortedByLine(findings.warnings, PLAN_KEYS),
    // A verdict hands its value out only where no part of the plan is missing.
    plan as unknown as Plan,
  );
}

function missingKey(key: PlanKey, file: string): ArtifactFinding {
  return {
    code: "PLAN_KEY_MISSING",
    file,
    line: null,
    key,
    message: `the key ${key} is missing from the header block`,
    fix: `Add a line "${key}: ..." at the top.`,
  };
}

function readStatus(
  entry: PlanEntry | undefined,
  kind: PlanContext["kind"],
  errors: ArtifactFinding[],
  file: string,
): string {
  const wanted = kind === "signed" ? "SIGNED" : "DRAFT";
  if (entry !== undefined && entry.value !== wanted) {
    errors.push({
      code: "PLAN_STATUS",
      file,
      line: entry.line,
      key: "Status",
      message: `Status must be exactly ${wanted}, not ${JSON.stringify(entry.value)}`,
      fix: `Write "Status: ${wanted}".`,
    });
  }
  return wanted;
}

function readScope(items: PlanItems, side: "allow" | "deny"): string[] {
  const entries = new Set<string>();
  for (const item of items.list(side === "deny")) {
    const entry = normalizeScopeEntry(item.text, side);
    if (entry === null) items.invalid("PLAN_SCOPE_INVALID", item, "is not a path prefix inside the repository");
    else entries.add(entry);
  }
  if (side === "allow") items.requireSome();
  return [...entries];
}

function readGates(items: PlanItems, known: readonly string[] | null): string[] {
  const gates: string[] = [];
  for (const item of items.list(false)) {
    if (!/^[a-z][a-z0-9_-]*$/.test(item.text)) items.invalid("PLAN_GATE_INVALID", item, "is not the name of a gate");
    else if (gates.includes(item.text)) items.duplicate("PLAN_GATE_DUPLICATE", item, item.text);
    else {
      gates.push(item.text);
      if (known !== null && !known.includes(item.text)) {
        items.invalid("PLAN_GATE_UNKNOWN", item, "is neither built in nor configured under workflow.verify.gates");
      }
    }
  }
  for (const gate of REQUIRED_GATES) {
    if (!gates.includes(gate)) items.missing("PLAN_GATE_MISSING", gate, `the gate ${gate} must be declared`);
  }
  return gates;
}

function readIds(items: PlanItems, form: RegExp, noneAllowed: boolean): string[] {
  const ids: string[] = [];
  for (const item of items.list(noneAllowed)) {
    if (!form.test(item.text)) items.invalid("PLAN_ID_INVALID", item, "is not exactly one id");
    else if (ids.includes(item.text)) items.duplicate("PLAN_ID_DUPLICATE", item, item.text);
    else ids.push(item.text);
  }
  items.requireSome();
  return ids;
}
