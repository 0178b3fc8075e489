import { GUARDRAILS_FILE } from "../artifacts/guardrails.ts";
import { PLAN_FILE, validatePlan } from "../artifacts/plan.ts";
import { describeStep } from "../dispatch/describe-step.ts";
import type { NextStep } from "../dispatch/next-step.ts";
import { countPrompts } from "../dispatch/outbox.ts";
import { dispatchOf } from "../dispatch/prompts.ts";
import { listFindings } from "./gate/step-findings.ts";
import type { Run } from "./run.ts";

/** Where a run stands, as every verb reports it. */
export function toStepReport(run: Run, found: NextStep) {
  const { status, stop_reason, blocked } = run.state;
  const step = isOutOfPrompts(run, found) ? { ...found, owner: "operator", code: OUT_OF_PROMPTS } : found;
  const { state, owner, action, target, code } = step;
  const message =
    blocked !== null && blocked.code === code && blocked.target === (target ?? "")
      ? blocked.message
      : describeStep(step);
  return {
    run_id: run.id,
    run_dir: run.folder.dir,
    status: stop_reason !== null ? status : toStatus(step, status),
    stop_reason,
    state,
    owner,
    action,
    target,
    code,
    message: stop_reason === null ? message : `the run was stopped: ${stop_reason}`,
    findings: listFindings(run, step).map((finding) => ({ ...finding })),
  };
}

const OUT_OF_PROMPTS = "OUTBOX_BUDGET_EXCEEDED";

/** Whether the last advance could not ask for what the run still waits for, and the limit has not been raised since. */
function isOutOfPrompts(run: Run, { state, action, target }: NextStep): boolean {
  const { blocked } = run.state;
  if (state !== "blocked" || blocked?.code !== OUT_OF_PROMPTS) return false;
  const { used, max } = countOutbox(run);
  return blocked.action === action && blocked.target === target && used >= max;
}

function countOutbox(run: Run): { readonly used: number; readonly max: number } {
  const names = run.folder.list("outbox").map((path) => path.slice("outbox/".length));
  return { used: countPrompts(names).prompts, max: dispatchOf(run).max_outbox_prompts };
}

// RUN.json says what advance saw last; what the artifacts say now is the truth.
function toStatus(step: NextStep, recorded: "running" | "blocked" | "pass" | "fail") {
  if (step.state === "pass") return "pass";
  if (step.state === "ready") return "running";
  if (step.state === "stopped") return "fail";
  return step.code === "VERIFY_FAILED" ? "fail" : recorded === "pass" ? "pass" : "blocked";
}

/** The whole status of a run. Reads only. */
export async function readStatus(run: Run) {
  const step = await run.next();
  const bytes = run.read(PLAN_FILE);
  const plan = bytes === null ? null : validatePlan(bytes, { kind: "signed", knownGates: null }).value;
  const max = run.read(GUARDRAILS_FILE) === null ? null : run.limits(plan).max_iterations;
  return {
    ...toStepReport(run, step),
    goal: run.state.goal,
    iterations: { used: run.state.iterations, max },
    rejections: { used: run.state.patch_rejections, max: run.ports.config.limits.max_patch_rejections },
    prompts: countOutbox(run),
  };
}
