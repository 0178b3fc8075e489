import type { JsonValue } from "../canonical/index.ts";
import { VerbatimError } from "../errors/index.ts";

/** What was used of everything that has a budget. */
interface Spent {
  readonly symbols: number;
  readonly sections: number;
  readonly bytes: number | bigint;
  readonly expands: number;
}

/**
 * The four budgets of a message step (Catalytic Chat Contract, Budget Definitions), in the order in which breaches are
 * listed. `field` is its name where someone asks for an expansion; at a terminal a person reads, the strict defaults
 * are for agents.
 */
export const BUDGETS = {
  max_symbols: {
    code: "BUDGET_SYMBOLS",
    field: "max_symbols",
    says: "Maximum number of distinct symbols.",
    standard: 10,
    terminal: 100,
    used: ({ symbols }: Spent) => symbols,
  },
  max_sections: {
    code: "BUDGET_SECTIONS",
    field: "max_sections",
    says: "Maximum number of distinct sections.",
    standard: 5,
    terminal: 100,
    used: ({ sections }: Spent) => sections,
  },
  max_bytes_expanded: {
    code: "BUDGET_BYTES",
    field: "max_bytes",
    says: "Maximum number of bytes in all.",
    standard: 10_000,
    terminal: 1_000_000,
    used: ({ bytes }: Spent) => bytes,
  },
  max_expands_per_step: {
    code: "BUDGET_EXPANDS",
    field: "max_expands",
    says: "Maximum number of expansions.",
    standard: 3,
    terminal: 100,
    used: ({ expands }: Spent) => expands,
  },
} as const;

export type BudgetName = keyof typeof BUDGETS;
type BudgetCode = (typeof BUDGETS)[BudgetName]["code"];
export type BudgetField = (typeof BUDGETS)[BudgetName]["field"];
/** The limits of a plan or of a reading. */
export type Budgets = Readonly<Record<BudgetName, number>>;

const NAMES = Object.keys(BUDGETS) as readonly BudgetName[];

/** The names by which an expansion is given its budgets. */
export const BUDGET_FIELDS: readonly BudgetField[] = NAMES.map((name) => BUDGETS[name].field);

/** Something for every budget, by its name. */
export function mapBudgets<T>(make: (name: BudgetName) => T): Record<BudgetName, T> {
  const made = {} as Record<BudgetName, T>;
  for (const name of NAMES) made[name] = make(name);
  return made;
}

/** Something for every budget, by the name of its field. */
export function mapBudgetFields<T>(make: (name: BudgetName) => T): Record<BudgetField, T> {
  return Object.fromEntries(NAMES.map((name) => [BUDGETS[name].field, make(name)])) as Record<BudgetField, T>;
}

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

const LARGEST = BigInt(Number.MAX_SAFE_INTEGER);

/** Charges steps against budgets, one after the other. Nothing is charged after a breach. */
export class BudgetMeter {
  readonly #budgets: Budgets;
  readonly #symbols: number;
  readonly #sections = new Set<string>();
  #bytes = 0n;
  #expands = 0;
  #ordinal = 0;

  constructor(refs: readonly string[], budgets: Budgets) {
    for (const budget of NAMES) requireLimit(budget, budgets[budget]);
    this.#budgets = budgets;
    // A section id among the refs is charged as a section when it is expanded.
    this.#symbols = new Set(refs.filter((ref) => ref.startsWith("@"))).size;
  }

  /** The totals so far. */
  get totals(): Totals {
    const spent = this.#spent();
    return mapBudgets((budget) => BUDGETS[budget].used(spent));
  }

  #spent(): Spent {
    const bytes = this.#bytes <= LARGEST ? Number(this.#bytes) : this.#bytes;
    return { symbols: this.#symbols, sections: this.#sections.size, bytes, expands: this.#expands };
  }

  /** Charges the next step: the breach when a total now exceeds its limit. */
  charge(step: Charge): Breach | null {
    this.#ordinal++;
    if (step !== null) {
      this.#sections.add(step.section_id);
      this.#bytes += BigInt(step.bytes);
      this.#expands++;
    }
    const spent = this.#spent();
    const first = NAMES.find((budget) => BUDGETS[budget].used(spent) > this.#budgets[budget]);
    if (first === undefined) return null;
    const { totals } = this;
    const exceeded = NAMES.filter((budget) => totals[budget] > this.#budgets[budget]);
    const breaches = exceeded.map((budget) => ({ budget, limit: this.#budgets[budget], used: totals[budget] }));
    return { ordinal: this.#ordinal, code: BUDGETS[first].code, breaches };
  }
}

/**
 * Charges a plan against its budgets: totals after every step, and the first step after which a total
 * exceeds its limit. Depends on the plan only, not on who runs it when.
 *
 * @example
 * const limits = { max_symbols: 1, max_sections: 1, max_bytes_expanded: 100, max_expands_per_step: 1 };
 * chargeBudgets(["@TIDES/LOW"], [], limits).breach; // => null
 */
export function chargeBudgets(
  refs: readonly string[],
  steps: readonly Charge[],
  budgets: Budgets,
): { cumulative: Totals[]; breach: Breach | null } {
  const meter = new BudgetMeter(refs, budgets);
  const cumulative: Totals[] = [];
  for (const step of steps) {
    const breach = meter.charge(step);
    cumulative.push(meter.totals);
    if (breach !== null) return { cumulative, breach };
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
