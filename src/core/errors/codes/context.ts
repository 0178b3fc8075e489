/** Codes of the context room that the hall needs already: slices and budgets live in core/text. */
export const CONTEXT_CODES = {
  SLICE_SYNTAX: {
    exit: 2,
    http: 400,
    says: "The slice is not one of the four forms.",
    fix: "Use lines[a:b], chars[a:b], head(n) or tail(n).",
  },
  SLICE_EMPTY: {
    exit: 2,
    http: 400,
    says: "The slice selects nothing.",
    fix: "Use an end greater than the start, or a count of at least 1.",
  },
  SLICE_UNBOUNDED: {
    exit: 2,
    http: 400,
    says: "A slice without bounds is forbidden.",
    fix: "Name the range: lines[a:b], chars[a:b], head(n) or tail(n).",
  },
  SLICE_REQUIRED: {
    exit: 2,
    http: 400,
    says: "A section id needs an explicit slice.",
    fix: "Add a slice: lines[a:b], chars[a:b], head(n) or tail(n).",
  },
  SLICE_OUT_OF_BOUNDS: {
    exit: 1,
    http: 422,
    says: "The slice asks for more than the target has.",
    fix: "Use the suggested slice.",
  },
  BUDGET_SYMBOLS: { exit: 1, http: 422, says: "More symbols than max_symbols allows.", fix: "Raise max_symbols." },
  BUDGET_SECTIONS: { exit: 1, http: 422, says: "More sections than max_sections allows.", fix: "Raise max_sections." },
  BUDGET_BYTES: {
    exit: 1,
    http: 422,
    says: "More bytes than max_bytes_expanded allows.",
    fix: "Use smaller slices or raise max_bytes_expanded.",
  },
  BUDGET_EXPANDS: {
    exit: 1,
    http: 422,
    says: "More expansions than max_expands_per_step allows.",
    fix: "Raise max_expands_per_step.",
  },
} as const;
