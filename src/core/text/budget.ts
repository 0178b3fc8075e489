import type { JsonValue } from "../canonical/index.ts";
import { VerbatimError } from "../errors/index.ts";

/** The four budgets of a message step (Catalytic Chat Contract, Budget Definitions). */
export interface Budgets {
  readonly max_symbols: number;
  readonly max_sections: number;
  readonly max_bytes_expanded: number;
  readonly max_expands_per_step: number;
}

export type BudgetName = keyof Budgets;
export type BudgetCode = "BUDGET_SYMBOLS" | "BUDGET_SECTIONS" | "BUDGET_BYTES" | "BUDGET_EXPANDS";

/** What one step expands; null when it expands nothing. */
export type Charge = { readonly section_id: string; readonly bytes: number } | null;

/** Totals after a step, by the name of the budget they count against. */
export type Totals = Readonly<Record<BudgetName, number | bigint>>;

export interface Breach {
  /** Ordinal of the step whose charge broke the budget, from 1. */
  readonly ordinal: number;
  readonly code: BudgetCode;
  readonly breaches: readonly { readonly budget: BudgetName; readonly limit: number; readonly used: number | bigint }[];
}

/** The order in which breaches are listed and the code each one has. */
const BUDGETS = [
  ["max_symbols", "BUDGET_SYMBOLS"],
  ["max_sections", "BUDGET_SECTIONS"],
  ["max_bytes_expanded", "BUDGET_BYTES"],
  ["max_expands_per_step", "BUDGET_EXPANDS"],
] as const satisfies readonly (readonly [BudgetName, BudgetCode])[];

/**
 * Charges a plan against its budgets: totals after every step, and the first step after which a total
 * exceeds its limit. Nothing after the breach is charged. Depends on the plan only, not on who runs it when.
 */
export function chargeBudgets(
  refs: readonly string[],
  steps: readonly Charge[],
  budgets: Budgets,
): { cumulative: Totals[]; breach: Breach | null } {
  for (const [budget] of BUDGETS) requireLimit(budget, budgets[budget]);
  // A section id among the refs is charged as a section when it is expanded.
  const symbols = new Set(refs.filter((ref) => ref.startsWith("@"))).size;
  const sections = new Set<string>();
  let bytes = 0n;
  let expands = 0;
  const cumulative: Totals[] = [];
  for (const [index, step] of steps.entries()) {
    if (step !== null) {
      sections.add(step.section_id);
      bytes += BigInt(step.bytes);
      expands++;
    }
    const totals: Totals = {
      max_symbols: symbols,
      max_sections: sections.size,
      max_bytes_expanded: bytes <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(bytes) : bytes,
      max_expands_per_step: expands,
    };
    cumulative.push(totals);
    const exceeded = BUDGETS.filter(([budget]) => totals[budget] > budgets[budget]);
    const first = exceeded[0];
    if (first !== undefined) {
      const breaches = exceeded.map(([budget]) => ({ budget, limit: budgets[budget], used: totals[budget] }));
      return { cumulative, breach: { ordinal: index + 1, code: first[1], breaches } };
    }
  }
  return { cumulative, breach: null };
}

/** All four budgets are required: one that is missing or no whole number would limit nothing. */
function requireLimit(budget: BudgetName, limit: unknown): void {
  if (Number.isSafeInteger(limit) && (limit as number) >= 0) return;
  throw new VerbatimError("INPUT_INVALID", {
    message: `${budget} is not a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`,
    where: `/budgets/${budget}`,
  });
}

/** A breach as it stands in receipts and reports. */
export function toBreachResult(breach: Breach): JsonValue {
  return { code: breach.code, breaches: breach.breaches.map((one) => ({ ...one })) };
}
