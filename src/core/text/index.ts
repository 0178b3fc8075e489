export {
  type Breach,
  BUDGET_FIELDS,
  BUDGETS,
  BudgetMeter,
  type Budgets,
  chargeBudgets,
  mapBudgetFields,
  mapBudgets,
  type Totals,
  toBreachResult,
} from "./budget.ts";
export { countLines, cutLines, type LineText, toLines } from "./lines.ts";
export { findNearest } from "./nearest.ts";
export { count, dropControls, showLine, showPlace, showText, showWritten } from "./plain-text.ts";
export { applySlice, parseSlice, sliceText } from "./slice.ts";
export {
  MAX_SLICE_LENGTH,
  SLICE_EXAMPLES,
  SLICE_FORM_LIST,
  SLICE_FORMS,
  SLICE_PATTERN,
  type Slice,
  splitSlice,
} from "./slice-forms.ts";
export { spaceScripts } from "./spacing.ts";
