import { ANALYSIS_FILE, PATCH_FILE } from "../dispatch/next-step.ts";
import { findPromptProblems } from "../dispatch/prompt.ts";
import { judgePatch } from "../patch/patch-gate.ts";
import { DEFAULT_POLICY } from "../patch/patch-policy.ts";
import { adviseFor } from "../patch/patch-review.ts";
import { listRefusals } from "../patch/rejection.ts";
import { CONTEXT_PACK_FILE, validateContextPack } from "./context-pack.ts";
import { DISPATCH_FILE, validateDispatch } from "./dispatch.ts";
import { EVENTS_FILE, validateEvents } from "./events.ts";
import { EXPECTED_RESULTS_FILE, validateExpectedResults } from "./expected-results.ts";
import { FILE_REQUEST_FILE, validateFileRequest } from "./file-request.ts";
import { FIND_RESULT_FILE, validateFindResult } from "./find-result.ts";
import { FIND_WEB_FILE, validateFindWeb } from "./find-web.ts";
import type { ArtifactFinding } from "./finding.ts";
import { GUARDRAILS_FILE, type Guardrails, validateGuardrails } from "./guardrails.ts";
import { PLAN_DRAFT_FILE, PLAN_FILE, validatePlan } from "./plan.ts";
import { matchPlan, toDifference } from "./plan-match.ts";
import { REASONS_FILE, validateReasons } from "./reasons.ts";
import { judgeReview, REVIEW_CONTRACT_FILE, REVIEW_COST_FILE, type ReviewContext } from "./review.ts";
import { isBlankText } from "./text.ts";
import { VERIFY_REPORT_FILE, validateVerifyReport } from "./verify-report.ts";

/** What an artifact is held against; null where there is no run. */
export interface JudgeContext {
  readonly guardrails: Guardrails | null;
  readonly knownGates: readonly string[] | null;
  readonly declaredGates: readonly string[] | null;
  readonly review: ReviewContext | null;
  /** PLAN_draft.md, which the signed plan must equal. */
  readonly draft: Uint8Array | null;
}

export const NO_CONTEXT: JudgeContext = {
  guardrails: null,
  knownGates: null,
  declaredGates: null,
  review: null,
  draft: null,
};

interface Judged {
  readonly errors: readonly ArtifactFinding[];
  readonly warnings: readonly ArtifactFinding[];
}

interface Kind {
  readonly name: string;
  readonly path: string;
  /** Who may hand it in; null when only the product writes it. */
  readonly submitter: string | null;
  judge(bytes: Uint8Array, context: JudgeContext, file: string): Judged;
}

const decoder = new TextDecoder();

/** Every artifact that can be validated, by its kind (Artifact Contracts A to L). */
export const KINDS: readonly Kind[] = [
  {
    name: "guardrails",
    path: GUARDRAILS_FILE,
    submitter: "chair",
    judge: (bytes, _, file) => validateGuardrails(bytes, file),
  },
  { name: "analysis", path: ANALYSIS_FILE, submitter: "chair", judge: (bytes, _, file) => judgeAnalysis(bytes, file) },
  {
    name: "file_request",
    path: FILE_REQUEST_FILE,
    submitter: "chair",
    judge: (bytes, { guardrails }, file) => validateFileRequest(bytes, guardrails, file),
  },
  {
    name: "context_pack",
    path: CONTEXT_PACK_FILE,
    submitter: "librarian",
    judge: (bytes, _, file) => validateContextPack(bytes, file),
  },
  {
    name: "find_result",
    path: FIND_RESULT_FILE,
    submitter: null,
    judge: (bytes, _, file) => validateFindResult(bytes, file),
  },
  {
    name: "find_web",
    path: FIND_WEB_FILE,
    submitter: "researcher",
    judge: (bytes, { guardrails }, file) => validateFindWeb(bytes, guardrails, file),
  },
  {
    name: "plan_draft",
    path: PLAN_DRAFT_FILE,
    submitter: "chair",
    judge: (bytes, { knownGates }, file) => validatePlan(bytes, { kind: "draft", knownGates }, file),
  },
  {
    name: "plan",
    path: PLAN_FILE,
    submitter: "chair",
    judge: judgeSigned,
  },
  { name: "reasons", path: REASONS_FILE, submitter: "chair", judge: (bytes, _, file) => validateReasons(bytes, file) },
  {
    name: "expected_results",
    path: EXPECTED_RESULTS_FILE,
    submitter: "chair",
    judge: (bytes, _, file) => validateExpectedResults(bytes, file),
  },
  {
    name: "review_contract",
    path: REVIEW_CONTRACT_FILE,
    submitter: null,
    judge: (bytes, { review }, file) => toJudged(judgeReview(bytes, review, file).errors),
  },
  {
    name: "review_cost",
    path: REVIEW_COST_FILE,
    submitter: "cost_controller",
    judge: (bytes, { review }, file) => toJudged(judgeReview(bytes, review, file).errors),
  },
  {
    name: "diff_patch",
    path: PATCH_FILE,
    submitter: "patchmaker",
    judge: (bytes, _, file) => judgeGrammar(bytes, file),
  },
  {
    name: "verify_report",
    path: VERIFY_REPORT_FILE,
    submitter: null,
    judge: (bytes, { declaredGates }, file) => validateVerifyReport(bytes, declaredGates, file),
  },
  { name: "events", path: EVENTS_FILE, submitter: null, judge: (bytes, _, file) => validateEvents(bytes, file) },
  {
    name: "dispatch_config",
    path: DISPATCH_FILE,
    submitter: "operator",
    judge: (bytes, _, file) => validateDispatch(bytes, file),
  },
  { name: "outbox_prompt", path: "outbox/*.md", submitter: null, judge: (bytes, _, file) => judgePrompt(bytes, file) },
];

/** The kind of an artifact by its run-relative path, its file name, its stem or its own name; null when unknown. */
export function findKind(text: string): Kind | null {
  const name = text.slice(text.lastIndexOf("/") + 1);
  const stem = name.replace(/\.[a-z]+$/, "");
  return (
    KINDS.find(({ path }) => path === text) ??
    KINDS.find(({ path }) => path.slice(path.lastIndexOf("/") + 1) === name) ??
    KINDS.find((kind) => kind.name === stem) ??
    KINDS.find(({ path }) => path.slice(path.lastIndexOf("/") + 1).replace(/\.[a-z]+$/, "") === stem) ??
    (/^[0-9]{3,6}_[a-z_]+\.md$/.test(name) ? KINDS.find((kind) => kind.name === "outbox_prompt")! : null)
  );
}

/** Judges the bytes of an artifact of a known path. */
export function judgeArtifact(path: string, bytes: Uint8Array, context: JudgeContext): Judged {
  const kind = findKind(path);
  if (kind === null) return toJudged([]);
  const { errors, warnings } = kind.judge(bytes, context, path);
  return { errors, warnings };
}

function toJudged(errors: readonly ArtifactFinding[]): Judged {
  return { errors, warnings: [] };
}

function judgeSigned(bytes: Uint8Array, { knownGates, draft }: JudgeContext, file: string): Judged {
  const { errors, warnings } = validatePlan(bytes, { kind: "signed", knownGates }, file);
  const match = errors.length > 0 || draft === null ? null : matchPlan(bytes, draft);
  return match === null || match.match ? { errors, warnings } : { errors: [toDifference(match, file)], warnings };
}

function judgeAnalysis(bytes: Uint8Array, file: string): Judged {
  if (!isBlankText(decoder.decode(bytes))) return toJudged([]);
  return toJudged([
    { code: "ARTIFACT_INVALID", file, line: null, message: "the analysis is blank", fix: "Write something." },
  ]);
}

/** Grammar, paths and default policy; scope and git need a run. */
function judgeGrammar(bytes: Uint8Array, file: string): Judged {
  const { result } = judgePatch({ patch: bytes, policy: DEFAULT_POLICY, scope: null, planLimits: null });
  if (result.verdict === "accept") return toJudged([]);
  const line = result.line ?? null;
  return toJudged(
    listRefusals(result).map(({ code, rule, path }) => {
      const message = path === undefined ? rule : `${rule} ${path}`;
      return { code, file, line, key: rule, message, fix: adviseFor(rule) };
    }),
  );
}

function judgePrompt(bytes: Uint8Array, file: string): Judged {
  const problems = findPromptProblems(decoder.decode(bytes));
  return toJudged(problems.map((problem) => ({ ...problem, file, fix: "Prompts are written by Verbatim." })));
}
