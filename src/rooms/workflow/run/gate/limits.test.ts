import { expect, it } from "vitest";
import { resolveLimits } from "./limits.ts";

const policy = { max_files: 20, max_added_lines: 500 };
const numbers = (max_files: number, max_total_bytes: number, max_iterations: number) => ({
  max_files,
  max_total_bytes,
  max_iterations,
});

it("of two numbers for one thing the smaller one holds, whoever says it", () => {
  const small = numbers(3, 100, 2);
  const large = numbers(30, 1000, 9);
  expect(resolveLimits({ guardrails: large, plan_budgets: small, policy })).toEqual({
    context_max_files: 30,
    context_max_total_bytes: 1000,
    max_iterations: 2,
    patch_max_files: 3,
    patch_max_added_lines: 500,
    patch_max_bytes: 100,
  });
  expect(resolveLimits({ guardrails: small, plan_budgets: large, policy })).toEqual({
    context_max_files: 3,
    context_max_total_bytes: 100,
    max_iterations: 2,
    patch_max_files: 20,
    patch_max_added_lines: 500,
    patch_max_bytes: 1000,
  });
});

it("where only one speaks its number holds, and where nobody does there is none", () => {
  const only = { guardrails: numbers(3, 100, 2), plan_budgets: null, policy };
  expect(resolveLimits(only)).toMatchObject({ max_iterations: 2, patch_max_files: 20, patch_max_bytes: null });
  const plan = { guardrails: null, plan_budgets: numbers(3, 100, 2), policy };
  expect(resolveLimits(plan)).toMatchObject({ max_iterations: 2, context_max_files: null, patch_max_files: 3 });
  expect(resolveLimits({ guardrails: null, plan_budgets: null, policy })).toEqual({
    context_max_files: null,
    context_max_total_bytes: null,
    max_iterations: null,
    patch_max_files: 20,
    patch_max_added_lines: 500,
    patch_max_bytes: null,
  });
});
