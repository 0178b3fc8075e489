import { type JsonValue, parseJson } from "../../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import type { DispatchRole } from "../artifacts/dispatch.ts";
import { EXPECTED_RESULTS_FILE } from "../artifacts/expected-results.ts";
import { FIND_RESULT_FILE } from "../artifacts/find-result.ts";
import { formatGuardianReview, reviewAsGuardian } from "../artifacts/guardian.ts";
import { formatArtifact } from "../artifacts/json.ts";
import { PLAN_DRAFT_FILE, validatePlan } from "../artifacts/plan.ts";
import { checkPlan } from "../artifacts/plan-check.ts";
import { REASONS_FILE } from "../artifacts/reasons.ts";
import { REVIEW_CONTRACT_FILE } from "../artifacts/review.ts";
import { dispatchRole } from "../dispatch/agent-step.ts";
import { describeStep } from "../dispatch/describe-step.ts";
import type { NextStep } from "../dispatch/next-step.ts";
import { runPackStep } from "../dispatch/pack-step.ts";
import { dispatchOf, writePrompt } from "../dispatch/prompts.ts";
import { REGISTRY_FILE, resolveWorkflow } from "../dispatch/resolver.ts";
import { runApplyStep } from "./apply/apply-step.ts";
import { acceptArtifacts } from "./gate/accept.ts";
import { runGateStep } from "./gate/gate-step.ts";
import { readRepoText } from "./run.ts";
import type { Session } from "./session.ts";
import { retryVerify, runVerifyStep } from "./verify/verify-step.ts";

interface AdvanceOptions {
  readonly maxSteps: number;
  /** Null: as configured. */
  readonly apply: boolean | null;
  readonly retryVerify: boolean;
}

/** One thing that advance did, for people. */
interface AdvanceStep {
  readonly action: string;
  readonly target: string;
  readonly result: string;
}

/** Drives a run until it passes, stops, or waits for someone. */
export async function advanceRun(session: Session, options: AdvanceOptions): Promise<AdvanceStep[]> {
  const { run } = session;
  const steps: AdvanceStep[] = [];
  if (options.retryVerify) retryVerify(session);
  forgetPackFailure(session);
  const asked = new Set<string>();
  while (steps.length < options.maxSteps) {
    session.throwIfInterrupted();
    const step = await run.next();
    await acceptArtifacts(session, step);
    if (step.state === "pass" || step.state === "stopped") return steps;
    const outcome =
      step.state === "ready" ? await doStep(session, step, options) : await askSomebody(session, step, asked);
    steps.push(outcome.step);
    if (outcome.wait) return steps;
  }
  return steps;
}

interface Outcome {
  readonly step: AdvanceStep;
  /** Nothing more can be done without someone. */
  readonly wait: boolean;
}

/** The documents or the budget may have been put right since; the request itself need not change for that. */
function forgetPackFailure({ run }: Session): void {
  const { file_request_sha256, failed_code } = run.state.context_pack;
  if (failed_code !== undefined)
    run.save({ context_pack: file_request_sha256 === undefined ? {} : { file_request_sha256 } });
}

async function doStep(session: Session, step: NextStep, options: AdvanceOptions): Promise<Outcome> {
  const { run } = session;
  const { candidates } = run.state;
  if (run.state.status !== "running") run.save({ status: "running", blocked: null });
  switch (step.action) {
    case "resolve":
      return await doResolve(session, step);
    case "context_pack":
      await runPackStep(session);
      return done(step, run.state.context_pack.failed_code ?? "pack written");
    case "review_contract":
      return done(step, await runGuardianStep(session));
    case "patch_gate":
      await runGateStep(session);
      return done(step, run.state.candidates.at(-1)?.state ?? "");
    case "verify":
      await runVerifyStep(session);
      return done(
        step,
        run.state.stop_reason ?? run.state.candidates.find((one, i) => one !== candidates[i])?.state ?? "",
      );
    case "apply": {
      const wanted = options.apply ?? run.ports.config.apply === "auto";
      if (!wanted)
        return {
          step: { action: "apply", target: step.target ?? "", result: "ready; run advance --apply" },
          wait: true,
        };
      await runApplyStep(session);
      return done(step, "applied");
    }
    default:
      throw new VerbatimError("INTERNAL", { message: `there is no handler for the step ${step.action}` });
  }
}

function done(step: NextStep, result: string): Outcome {
  return { step: { action: step.action ?? "", target: step.target ?? "", result }, wait: false };
}

async function doResolve(session: Session, step: NextStep): Promise<Outcome> {
  const { run } = session;
  try {
    const text = readRepoText(run.ports, REGISTRY_FILE);
    const result = resolveWorkflow(run.state.goal, text === null ? null : parseRegistry(text));
    run.folder.write(FIND_RESULT_FILE, formatArtifact(result));
    await session.event("orchestrator", "FIND_RESOLVED", FIND_RESULT_FILE, { workflow: result.selected_workflow_id });
    return done(step, result.selected_workflow_id);
  } catch (thrown) {
    if (!isVerbatimError(thrown) || thrown.code !== "REGISTRY_INVALID") throw thrown;
    await session.block({ ...step, owner: "operator", code: thrown.code, target: REGISTRY_FILE }, thrown.message);
    return { step: { action: "resolve", target: REGISTRY_FILE, result: thrown.code }, wait: true };
  }
}

function parseRegistry(text: string): JsonValue {
  try {
    return parseJson(text, { file: REGISTRY_FILE });
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    throw new VerbatimError("REGISTRY_INVALID", {
      message: thrown.message,
      where: thrown.where ?? REGISTRY_FILE,
      cause: thrown,
    });
  }
}

/** A step that someone else must do: an agent once per request, otherwise a prompt for a person. */
async function askSomebody(session: Session, step: NextStep, asked: Set<string>): Promise<Outcome> {
  const { run } = session;
  const message = describeStep(step);
  if (step.owner === "operator") {
    await session.block(step, message);
    return { step: { action: step.action ?? "", target: step.target ?? "", result: step.code }, wait: true };
  }
  const provider = dispatchOf(run).providers[step.owner as DispatchRole] ?? "manual_outbox";
  const request = `${step.owner} ${step.action} ${step.target} ${step.code} ${run.hash(step.target ?? "") ?? ""}`;
  let reason = message;
  if (provider !== "manual_outbox" && !asked.has(request)) {
    asked.add(request);
    try {
      await dispatchRole(session, step, provider, message);
      return {
        step: { action: step.action ?? "", target: step.target ?? "", result: `written by ${provider}` },
        wait: false,
      };
    } catch (thrown) {
      if (!isVerbatimError(thrown) || !(thrown.code.startsWith("PROVIDER_") || thrown.code.startsWith("TEMPLATE_")))
        throw thrown;
      reason = `${message} (${provider}: ${thrown.code} ${thrown.message})`;
    }
  }
  const prompt = await writePrompt(session, step, provider, reason);
  if (prompt === "exhausted") {
    const { max_outbox_prompts } = dispatchOf(run);
    await session.event("orchestrator", "STOP_BUDGET_EXCEEDED", "", { max_outbox_prompts });
    await session.block(
      { ...step, owner: "operator", code: "OUTBOX_BUDGET_EXCEEDED" },
      `the run has used up its prompts: raise budgets.max_outbox_prompts in artifacts/dispatch_config.json, or submit ${step.target}`,
    );
    return {
      step: { action: step.action ?? "", target: step.target ?? "", result: "OUTBOX_BUDGET_EXCEEDED" },
      wait: true,
    };
  }
  await session.block(step, reason);
  // After an agent gave up, the prompt for a person belongs into the bundle as well.
  if (prompt.written && step.action === "fix_patch") await session.bundle();
  return {
    step: { action: step.action ?? "", target: step.target ?? "", result: `waiting for ${step.owner}: ${prompt.file}` },
    wait: true,
  };
}

/** The step `review_contract`: the same draft always gets the same review. */
async function runGuardianStep(session: Session): Promise<string> {
  const { run } = session;
  const { config } = run.ports;
  const draft = run.read(PLAN_DRAFT_FILE)!;
  const context = { kind: "draft", knownGates: run.knownGates } as const;
  const review = reviewAsGuardian({
    plan: validatePlan(draft, context).value,
    planCheck: checkPlan({
      plan: draft,
      reasons: run.read(REASONS_FILE)!,
      expectedResults: run.read(EXPECTED_RESULTS_FILE)!,
      behaviorIds: run.behaviorIds(),
      context,
    }),
    guardrails: run.guardrails()!,
    policy: run.state.policy,
    contractDocs: config.mandatory_docs.map(({ path }) => path),
    // The explicit command of a direct run counts as the permission.
    allowRootScope: config.guardian.allow_root_scope || run.isDirect,
    allowContractEdits: config.guardian.allow_contract_edits || run.state.direct?.policed === false,
  });
  run.folder.write(REVIEW_CONTRACT_FILE, formatGuardianReview(review, run.hash(PLAN_DRAFT_FILE)!));
  const { [REVIEW_CONTRACT_FILE]: _, ...reviews } = run.state.reviews;
  run.save({ reviews });
  await session.event("contract_guardian", "REVIEW_WRITTEN", REVIEW_CONTRACT_FILE, { verdict: review.verdict });
  return review.verdict;
}
