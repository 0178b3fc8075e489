import type { ArtifactFinding } from "./finding.ts";
import type { PlanEntry } from "./plan-header.ts";
import { MOST_ITERATIONS, parsePosint, splitList } from "./text.ts";

/** The budgets of a plan. */
export const BUDGETS = ["max_iterations", "max_files", "max_total_bytes"] as const;

interface PlanItem {
  readonly text: string;
  readonly line: number;
}

interface Findings {
  readonly file: string;
  readonly errors: ArtifactFinding[];
  readonly warnings: ArtifactFinding[];
}

/** The list of one key and the findings about it. A key that is absent has no items and no findings. */
export class PlanItems {
  readonly #entry: PlanEntry | undefined;
  readonly #findings: Findings;
  #judged = true;
  #empty = false;

  constructor(entry: PlanEntry | undefined, findings: Findings) {
    this.#entry = entry;
    this.#findings = findings;
  }

  /** The items; `none` alone means an empty list where that is allowed. */
  list(noneAllowed: boolean): PlanItem[] {
    const entry = this.#entry;
    if (entry === undefined) return this.#skip();
    if (entry.value.startsWith("[") && entry.value.endsWith("]")) {
      this.#report("PLAN_LIST_BRACKETS", entry.line, undefined, "a list must not have brackets", "Write a, b, c.");
      return this.#skip();
    }
    const items =
      entry.value === "" ? entry.bullets : splitList(entry.value).map((text) => ({ text, line: entry.line }));
    if (noneAllowed && items.length === 1 && items[0]!.text.toLowerCase() === "none") return this.#skip();
    this.#empty = items.length === 0;
    return items;
  }

  #skip(): PlanItem[] {
    this.#judged = false;
    return [];
  }

  /** PLAN_LIST_EMPTY when the list has no item and does not say `none`. */
  requireSome(): void {
    if (!this.#empty) return;
    this.#report("PLAN_LIST_EMPTY", this.#entry!.line, undefined, "needs at least one item", "Name at least one.");
  }

  invalid(code: string, item: PlanItem, why: string): void {
    this.#report(code, item.line, item.text, `${JSON.stringify(item.text)} ${why}`, "Correct the item.");
  }

  missing(code: string, item: string, message: string): void {
    if (this.#entry === undefined || !this.#judged) return;
    this.#report(code, this.#entry.line, item, message, `Add ${item}.`);
  }

  duplicate(code: string, item: PlanItem, name: string): void {
    this.#report(code, item.line, name, `${name} is set twice; the first value is used`, "Keep one.");
  }

  unknown(code: string, item: PlanItem, name: string): void {
    const message = `nothing evaluates ${name}`;
    this.#findings.warnings.push(this.#finding(code, item.line, name, message, "Check its spelling."));
  }

  #report(code: string, line: number, item: string | undefined, message: string, fix: string): void {
    this.#findings.errors.push(this.#finding(code, line, item, message, fix));
  }

  #finding(code: string, line: number, item: string | undefined, message: string, fix: string): ArtifactFinding {
    const { key } = this.#entry!;
    const said = `${key}: ${message}`;
    return { code, file: this.#findings.file, line, key, ...(item === undefined ? {} : { item }), message: said, fix };
  }
}

// A name without a value is still that name: it is given wrongly, not missing.
const PAIR = /^([^ \t\v\f\r=:]+)[ \t]*[=:][ \t]*(.*)$/s;

function parsePair(text: string): { readonly name: string; readonly value: string } | null {
  const match = PAIR.exec(text);
  return match === null ? null : { name: match[1]!, value: match[2]! };
}

/** The stop conditions: evaluated ones are checked, others are kept with a warning. */
export function readStop(items: PlanItems): Record<string, string> {
  const stop = new Map<string, string>();
  for (const item of items.list(false)) {
    const pair = parsePair(item.text);
    if (pair === null) items.invalid("PLAN_STOP_INVALID", item, NOT_A_STOP);
    else if (stop.has(pair.name)) items.duplicate("PLAN_STOP_DUPLICATE", item, pair.name);
    else {
      stop.set(pair.name, pair.value);
      if (!isStopValue(pair.name, pair.value)) items.invalid("PLAN_STOP_INVALID", item, NOT_A_STOP);
      else if (!EVALUATED.includes(pair.name)) items.unknown("PLAN_STOP_UNKNOWN", item, pair.name);
    }
  }
  items.requireSome();
  return Object.fromEntries(stop);
}

const NOT_A_STOP = "is not a stop condition like repeated_failure=2";
const EVALUATED = ["scope_violation", "repeated_failure", "patch_rejected"];

function isStopValue(name: string, value: string): boolean {
  if (name === "scope_violation") return value === "true" || value === "false";
  return EVALUATED.includes(name) ? parsePosint(value) !== null : value !== "";
}

/** The three budgets of a plan. */
export function readBudgets(items: PlanItems): Record<string, number> {
  const budgets = new Map<string, number | null>();
  for (const item of items.list(false)) {
    const pair = parsePair(item.text);
    if (pair === null) items.invalid("PLAN_BUDGET_INVALID", item, "is not a budget like max_files=5");
    else if (!(BUDGETS as readonly string[]).includes(pair.name)) items.unknown("PLAN_BUDGET_UNKNOWN", item, pair.name);
    else if (budgets.has(pair.name)) items.duplicate("PLAN_BUDGET_DUPLICATE", item, pair.name);
    else {
      const value = parsePosint(pair.value);
      const fits = value !== null && (pair.name !== "max_iterations" || value <= MOST_ITERATIONS);
      budgets.set(pair.name, fits ? value : null);
      if (!fits) items.invalid("PLAN_BUDGET_INVALID", item, "needs a positive integer (max_iterations: at most 100)");
    }
  }
  for (const name of BUDGETS) {
    if (!budgets.has(name)) items.missing("PLAN_BUDGET_MISSING", name, `${name} must be given`);
  }
  return Object.fromEntries(budgets) as Record<string, number>;
}
