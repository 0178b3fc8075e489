export {
  type Breach,
  type BudgetCode,
  type BudgetName,
  type Budgets,
  type Charge,
  chargeBudgets,
  type Totals,
  toBreachResult,
} from "./budget.ts";
export { countLines, cutLines, type LineText, toLines } from "./lines.ts";
export { findNearest } from "./nearest.ts";
export { applySlice, parseSlice, type Slice, type SliceTarget, sliceText } from "./slice.ts";
export { spaceScripts } from "./spacing.ts";
