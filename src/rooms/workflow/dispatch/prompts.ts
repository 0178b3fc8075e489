import { decodeUtf8 } from "../../../core/canonical/index.ts";
import { DEFAULT_DISPATCH, DISPATCH_FILE, type Dispatch, validateDispatch } from "../artifacts/dispatch.ts";
import { formatArtifact } from "../artifacts/json.ts";
import { PLAN_DRAFT_FILE } from "../artifacts/plan.ts";
import { buildEvidence, writeEvidencePack } from "../run/record/evidence.ts";
import { type Run, readRepoText } from "../run/run.ts";
import type { Session } from "../run/session.ts";
import type { NextStep } from "./next-step.ts";
import { countPrompts, findNewestPrompt } from "./outbox.ts";
import { formatPrompt } from "./prompt.ts";
import { templateFor } from "./templates.ts";

const WITH_EVIDENCE = ["chair", "patchmaker", "fixer"];

/** Who acts for each role in a run. */
export function dispatchOf(run: Run): Dispatch {
  const bytes = run.read(DISPATCH_FILE) ?? new TextEncoder().encode(formatArtifact(DEFAULT_DISPATCH));
  return validateDispatch(bytes).value ?? validateDispatch(formatArtifact(DEFAULT_DISPATCH)).value!;
}

/** The command with which an answer is handed in. */
export function submitCommand(run: Run, target: string): string {
  const name = target.slice(target.lastIndexOf("/") + 1);
  return `verbatim workflow submit ${name} FILE ${run.id}`;
}

/** The prompt for a step, as it would be written now. */
export function composePrompt(run: Run, step: NextStep, provider: string, message: string, withContext = true): string {
  const limits = run.limits(null);
  const { max_outbox_prompts } = dispatchOf(run);
  const own = run.ports.config.templates_dir;
  const action = step.action ?? "";
  const template = (own === null ? null : readRepoText(run.ports, `${own}/${action}.md`)) ?? templateFor(action);
  const evidence = withContext && WITH_EVIDENCE.includes(step.owner ?? "") ? buildEvidence(run).join("\n") : null;
  return formatPrompt({
    runDir: run.folder.dir,
    repoRoot: run.ports.repoRoot,
    goal: run.state.goal,
    role: step.owner ?? "",
    action,
    provider,
    target: step.target ?? "",
    reason: `${step.code} ${message}`,
    missing: step.code === "ARTIFACT_MISSING" && step.target !== null ? [step.target] : [],
    budgets: {
      max_outbox_prompts,
      max_files: limits.context_max_files,
      max_total_bytes: limits.context_max_total_bytes,
      max_iterations: limits.max_iterations,
    },
    findings: step.findings,
    submit: submitCommand(run, step.target ?? ""),
    template: template.trimEnd(),
    draftSha256: action === "review_cost" ? run.hash(PLAN_DRAFT_FILE) : null,
    evidence,
  });
}

type PromptOutcome = { readonly file: string; readonly written: boolean } | "exhausted";

/** Writes the prompt for a step, or reuses the newest equal one. At the limit nothing is written. */
export async function writePrompt(
  session: Session,
  step: NextStep,
  provider: string,
  message: string,
): Promise<PromptOutcome> {
  const { run } = session;
  if (WITH_EVIDENCE.includes(step.owner ?? "") || provider !== "manual_outbox") writeEvidencePack(run);
  const text = composePrompt(run, step, provider, message);
  const suffix = `_${step.owner}_${step.action}.md`;
  const names = run.folder.list("outbox").map((path) => path.slice("outbox/".length));
  const newest = findNewestPrompt(names.filter((name) => name.endsWith(suffix)));
  if (newest !== undefined && decodeUtf8(run.read(`outbox/${newest}`)!) === text) {
    return { file: `outbox/${newest}`, written: false };
  }
  const { prompts, next } = countPrompts(names);
  const { max_outbox_prompts } = dispatchOf(run);
  if (prompts >= max_outbox_prompts) return "exhausted";
  const file = `outbox/${next}${suffix}`;
  const target = step.target ?? "";
  run.folder.write(file, text);
  const target_sha256 = run.hash(target);
  run.save({ prompts: { ...run.state.prompts, [target]: { file, target_sha256 } } });
  await session.event("orchestrator", "OUTBOX_PROMPT_CREATED", file, { target, for_role: step.owner ?? "" });
  return { file, written: true };
}
