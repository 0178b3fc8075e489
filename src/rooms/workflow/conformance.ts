import { encodeUtf8, isJsonObject, type JsonObject, type JsonValue } from "../../core/canonical/index.ts";
import { given } from "../../core/conformance-input.ts";
import { resolveWorkflow } from "../../core/contracts/config/index.ts";
import { isVerbatimError } from "../../core/errors/index.ts";
import type { SyncCrypto } from "../../core/ports.ts";
import { checkBehaviors, findMarkers, isMarkedFile } from "./artifacts/behaviors.ts";
import { layOutBundle } from "./artifacts/bundle-layout.ts";
import { checkDispatch } from "./artifacts/dispatch.ts";
import { validateEvents } from "./artifacts/events.ts";
import { validateExpectedResults } from "./artifacts/expected-results.ts";
import { type ContextLimits, checkFileRequest } from "./artifacts/file-request.ts";
import { checkFindWeb, type WebLimits } from "./artifacts/find-web.ts";
import { reviewAsGuardian } from "./artifacts/guardian.ts";
import { type Guardrails, validateGuardrails } from "./artifacts/guardrails.ts";
import { validatePlan } from "./artifacts/plan.ts";
import { checkPlan } from "./artifacts/plan-check.ts";
import { matchPlan } from "./artifacts/plan-match.ts";
import { readReasons, validateReasons } from "./artifacts/reasons.ts";
import { judgeReview, type ReviewContext } from "./artifacts/review.ts";
import { judgeScope } from "./artifacts/scope.ts";
import { readLines } from "./artifacts/text.ts";
import { checkVerifyReport } from "./artifacts/verify-report.ts";
import { expandTemplate, type TemplateValues } from "./dispatch/argv-template.ts";
import { findNextStep } from "./dispatch/next-step.ts";
import { countPrompts } from "./dispatch/outbox.ts";
import { resolveWorkflow as findWorkflow } from "./dispatch/resolver.ts";
import { toRepoSlug } from "./run/find/repo-slug.ts";
import { isRunId } from "./run/find/run-id.ts";
import { type LimitSources, resolveLimits } from "./run/gate/limits.ts";
import type { RunFacts } from "./run/record/run-state.ts";

type Area = (input: JsonObject, ports: { readonly crypto: SyncCrypto }) => JsonValue;

/** Areas of the workflow room that need no files and no git. */
export const WORKFLOW_AREAS: Readonly<Record<string, Area>> = {
  "workflow.guardrails": (input) => {
    const { ok, errors, value } = validateGuardrails(text(input, "guardrails.md"));
    return plain({ ok, errors, values: value });
  },
  "workflow.plan": (input) => {
    const knownGates = (input["known_gates"] ?? null) as readonly string[] | null;
    const { ok, errors, warnings, value } = validatePlan(text(input, "PLAN.md"), { kind: kindOf(input), knownGates });
    return plain({ ok, errors, warnings, plan: value });
  },
  "workflow.plan-scope": (input) => {
    const plan = validatePlan(text(input, "PLAN.md"), { kind: kindOf(input), knownGates: null }).value;
    if (plan === null) return { error: { code: "PLAN_UNREADABLE" } };
    const scope = { allow: plan.scope_allow, deny: plan.scope_deny };
    return Object.fromEntries(texts(input, "paths").map((path) => [path, judgeScope(scope, path)]));
  },
  "workflow.plan-match": (input) => ({ ...matchPlan(text(input, "PLAN.md"), text(input, "PLAN_draft.md")) }),
  "workflow.reasons": (input) => {
    const bytes = text(input, "REASONS.md");
    const { ok, errors } = validateReasons(bytes);
    return plain({ ok, errors, reasons: readReasons(readLines(bytes, "").lines) });
  },
  "workflow.expected-results": (input) => {
    const { ok, errors, value } = validateExpectedResults(text(input, "EXPECTED_RESULTS.md"));
    return plain({ ok, errors, results: value });
  },
  "workflow.plan-check": (input) => {
    const errors = checkPlan({
      plan: text(input, "PLAN"),
      reasons: text(input, "REASONS.md"),
      expectedResults: text(input, "EXPECTED_RESULTS.md"),
      behaviorIds: (input["behavior_index_ids"] ?? null) as readonly string[] | null,
      context: { kind: kindOf(input), knownGates: null },
    });
    return plain({ ok: errors.length === 0, errors });
  },
  "workflow.review": (input, { crypto }) => {
    const bytes = text(input, "review.md");
    const context = { review_sha256: crypto.sha256(bytes), ...given<ReviewContext>(input) };
    const { verdict, errors } = judgeReview(bytes, context, "review.md");
    return plain({ verdict, errors });
  },
  "workflow.guardian": guardian,
  "workflow.file-request": (input) => {
    const limits = given<ContextLimits | null>(input["guardrails"] ?? null);
    const { ok, errors } = checkFileRequest(input["file_request"]!, limits);
    return plain({ ok, errors });
  },
  "workflow.find-web": (input) => {
    const limits = given<WebLimits | null>(input["guardrails"] ?? null);
    const { ok, errors, warnings } = checkFindWeb(input["find_web"]!, limits);
    return plain({ ok, errors, warnings });
  },
  "workflow.find-result": (input) => plain(findWorkflow(String(input["goal"]), input["index"] ?? null)),
  "workflow.verify-report": (input) => {
    const gates = (input["declared_gates"] ?? null) as readonly string[] | null;
    const { ok, errors } = checkVerifyReport(input["verify_report"]!, gates);
    return plain({ ok, errors });
  },
  "workflow.events": (input) => plain(validateEvents(text(input, "events.jsonl"))),
  "workflow.dispatch": (input) => {
    const { ok, errors, value } = checkDispatch(input["dispatch_config"]!);
    return plain({ ok, errors, providers: value?.providers ?? null });
  },
  "workflow.repo-slug": (input, { crypto }) => ({
    repo_slug: toRepoSlug(String(input["dirname"]), (name) => crypto.sha256(name)),
  }),
  "workflow.run-id": (input) => ({ valid: isRunId(String(input["run_id"])) }),
  "workflow.outbox": (input) => countPrompts(texts(input, "files")),
  "workflow.argv-template": argvTemplate,
  "workflow.behavior-marker": (input) => {
    const config = { ...resolveWorkflow().behaviors, ...(input as object), ...(input["config"] as object | undefined) };
    return { ids: findMarkers(String(input["text"]), config).map(({ id }) => id) };
  },
  "workflow.behavior-catalog": behaviorCatalog,
  "workflow.bundle": (input) => plain(layOutBundle(texts(input, "run_files"))),
  "workflow.limits": (input) => plain(resolveLimits(given<LimitSources>(input))),
  "workflow.state-machine": stateMachine,
};

function guardian(input: JsonObject): JsonValue {
  const draft = text(input, "PLAN_draft.md");
  const context = { kind: "draft", knownGates: null } as const;
  const config = isJsonObject(input["config"]) ? input["config"] : {};
  const planCheck =
    input["REASONS.md"] === undefined
      ? []
      : checkPlan({
          plan: draft,
          reasons: text(input, "REASONS.md"),
          expectedResults: text(input, "EXPECTED_RESULTS.md"),
          behaviorIds: (input["behavior_index_ids"] ?? null) as readonly string[] | null,
          context,
        });
  const review = reviewAsGuardian({
    plan: validatePlan(draft, context).value,
    planCheck,
    guardrails: given<Guardrails>(input["guardrails"]),
    policy: given<{ deny_prefixes: string[]; max_files: number }>(input["policy"]),
    contractDocs: texts(input, "contract_docs"),
    allowRootScope: config["allow_root_scope"] === true,
    allowContractEdits: config["allow_contract_edits"] === true,
  });
  return plain(review);
}

function argvTemplate(input: JsonObject): JsonValue {
  try {
    const template = given<string | readonly string[]>(input["template"]);
    return { ok: true, argv: expandTemplate(template, given<TemplateValues>(input["values"])) };
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    return { ok: false, code: thrown.code };
  }
}

function behaviorCatalog(input: JsonObject): JsonValue {
  const config = { ...resolveWorkflow().behaviors, ...(isJsonObject(input["config"]) ? input["config"] : {}) };
  const code = Object.entries((input["code"] ?? {}) as Record<string, string>);
  const pages = (input["pages"] ?? {}) as Record<string, string>;
  const { errors, note } = checkBehaviors(
    {
      index: (input["INDEX.md"] ?? null) as string | null,
      page: (name) => (Object.hasOwn(pages, name) ? pages[name]! : null),
      code: code.filter(([path]) => isMarkedFile(path, config)),
    },
    config,
  );
  return plain({ ok: errors.length === 0, errors, ...(note === undefined ? {} : { note }) });
}

function stateMachine(input: JsonObject, { crypto }: { readonly crypto: SyncCrypto }): JsonValue {
  const files = input["run_files"] as Record<string, JsonValue>;
  const config = isJsonObject(input["config"]) ? input["config"] : {};
  const repo = isJsonObject(input["repo"]) ? input["repo"] : {};
  const { state, owner, action, target, code } = findNextStep({
    run: {
      candidates: [],
      context_pack: {},
      reviews: {},
      status: "running",
      stop_reason: null,
      ...(input["run"] as object),
    } as RunFacts,
    read: (path) => (Object.hasOwn(files, path) ? toBytes(files[path]!) : null),
    sha256: (bytes) => crypto.sha256(bytes),
    behaviorIds: (input["behavior_index_ids"] ?? null) as readonly string[] | null,
    knownGates: given<readonly string[]>(config["known_gates"] ?? []),
    requireAnalysis: config["require_analysis"] === true,
    repo: { headMatches: repo["head_matches"] !== false, clean: repo["clean"] !== false },
  });
  return { state, owner, action, target, code };
}

function kindOf(input: JsonObject): "signed" | "draft" {
  return input["kind"] === "draft" ? "draft" : "signed";
}

function text(input: JsonObject, key: string): Uint8Array {
  return toBytes(input[key] ?? "");
}

/** A file of a vector: a text, or `{b64}`. */
export function toBytes(value: JsonValue): Uint8Array {
  if (isJsonObject(value) && typeof value["b64"] === "string") {
    return Uint8Array.from(atob(value["b64"]), (unit) => unit.charCodeAt(0));
  }
  return encodeUtf8(String(value));
}

function texts(input: JsonObject, key: string): string[] {
  return (input[key] ?? []) as string[];
}

/** A result without members that are undefined. */
function plain(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue;
}
