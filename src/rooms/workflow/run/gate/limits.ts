/** Where a run's numbers come from; null where the artifact does not exist yet. */
export interface LimitSources {
  readonly guardrails: {
    readonly max_files: number;
    readonly max_total_bytes: number;
    readonly max_iterations: number;
  } | null;
  readonly plan_budgets: {
    readonly max_files: number;
    readonly max_total_bytes: number;
    readonly max_iterations: number;
  } | null;
  readonly policy: { readonly max_files: number; readonly max_added_lines: number };
}

/** The number that holds for each limit: the smaller one where two artifacts speak. */
export interface Limits {
  readonly context_max_files: number | null;
  readonly context_max_total_bytes: number | null;
  readonly max_iterations: number | null;
  readonly patch_max_files: number;
  readonly patch_max_added_lines: number;
  readonly patch_max_bytes: number | null;
}

/** Resolves the limits of a run. */
export function resolveLimits({ guardrails, plan_budgets, policy }: LimitSources): Limits {
  return {
    context_max_files: guardrails?.max_files ?? null,
    context_max_total_bytes: guardrails?.max_total_bytes ?? null,
    max_iterations: smaller(guardrails?.max_iterations, plan_budgets?.max_iterations),
    patch_max_files: smaller(policy.max_files, plan_budgets?.max_files)!,
    patch_max_added_lines: policy.max_added_lines,
    patch_max_bytes: plan_budgets?.max_total_bytes ?? null,
  };
}

function smaller(a: number | undefined, b: number | undefined): number | null {
  if (a === undefined) return b ?? null;
  return b === undefined ? a : Math.min(a, b);
}
