import type { JsonObject } from "../../../core/canonical/index.ts";
import { sortedUnique } from "../../../core/canonical/index.ts";
import type { Plan } from "../artifacts/plan.ts";
import type { PatchRejection } from "../patch/rejection.ts";
import type { RunState } from "./record/run-state.ts";

/** Why a run ends, and the event that says so. */
interface StopReason {
  readonly reason: string;
  readonly event: "STOP_MAX_ITERATIONS" | "STOP_MAX_PATCH_REJECTIONS" | "STOP_CONDITION";
}

const SCOPE_RULES = ["scope_allow", "scope_deny", "allow_roots", "deny_prefixes"];

/** Whether a rejected candidate ends the run. */
export function findRejectionStop(
  run: Pick<RunState, "patch_rejections">,
  plan: Plan,
  mostRejections: number,
  rejection: PatchRejection,
): StopReason | null {
  if (run.patch_rejections >= mostRejections) {
    return { reason: "max_patch_rejections", event: "STOP_MAX_PATCH_REJECTIONS" };
  }
  const rules = [rejection.rule, ...(rejection.findings ?? []).map(({ rule }) => rule)];
  if (plan.stop["scope_violation"] === "true" && rules.some((rule) => SCOPE_RULES.includes(rule))) {
    return { reason: "stop_condition:scope_violation", event: "STOP_CONDITION" };
  }
  const most = plan.stop["patch_rejected"];
  return most !== undefined && run.patch_rejections >= Number(most)
    ? { reason: "stop_condition:patch_rejected", event: "STOP_CONDITION" }
    : null;
}

/** Whether a failed verification ends the run. */
export function findFailureStop(
  run: Pick<RunState, "iterations" | "failures">,
  plan: Plan,
  mostIterations: number,
): StopReason | null {
  if (run.iterations >= mostIterations) return { reason: "max_iterations", event: "STOP_MAX_ITERATIONS" };
  const times = Number(plan.stop["repeated_failure"] ?? Number.POSITIVE_INFINITY);
  const recent = (run.failures ?? []).slice(-times);
  const repeated = recent.length === times && new Set(recent).size === 1;
  return repeated ? { reason: "stop_condition:repeated_failure", event: "STOP_CONDITION" } : null;
}

/** What a verification failed with: gates, command indexes, exit codes and failure codes, but no output. */
export function toFailureSignature(report: {
  readonly commands: readonly { readonly gate: string; readonly exit_code: number }[];
  readonly failures: readonly { readonly kind: string; readonly id: string }[];
}): JsonObject {
  const counts = new Map<string, number>();
  const commands = report.commands.flatMap(({ gate, exit_code }) => {
    const index = counts.get(gate) ?? 0;
    counts.set(gate, index + 1);
    return exit_code === 0 ? [] : [`${gate}[${index}]=${exit_code}`];
  });
  return {
    commands: sortedUnique(commands),
    failures: sortedUnique(report.failures.map(({ kind, id }) => `${kind} ${id}`)),
  };
}
