import { z } from "zod";
import type { JsonValue } from "../../../core/canonical/index.ts";
import { isJsonObject } from "../../../core/canonical/index.ts";
import { type ContractObject, type CustomCheck, defineContract, type Problem } from "../../../core/contracts/index.ts";
import { FINDINGS } from "../../../core/errors/index.ts";
import { CONTEXT_PACK_VERSION, checkContextPack, OMIT_REASONS } from "../artifacts/context-pack.ts";
import { checkDispatch, DISPATCH_VERSION, PROVIDERS } from "../artifacts/dispatch.ts";
import { findEventProblems } from "../artifacts/events.ts";
import { checkFileRequest, FILE_REQUEST_VERSION } from "../artifacts/file-request.ts";
import { checkFindResult, FIND_RESULT_VERSION } from "../artifacts/find-result.ts";
import { checkFindWeb, FIND_WEB_VERSION } from "../artifacts/find-web.ts";
import type { Verdict } from "../artifacts/finding.ts";
import { checkVerifyReport } from "../artifacts/verify-report.ts";
import { WORKFLOW_RUN } from "../run/record/run-schema.ts";
import { VERIFICATION } from "../verification/report.ts";
import { AGENT_CHANGE } from "./agent-change.ts";
import { AGENT_PROFILE } from "./agent-profile.ts";
import { AGENT_ATTEMPT, AGENT_GATE, AGENT_RUN } from "./agent-run.ts";
import { AGENT_TRACE, TRANSCRIPT } from "./agent-trace.ts";
import { AGENT_PRICES, AGENT_USAGE } from "./agent-usage.ts";
import { CANDIDATE, CARRIED, CHOICE } from "./candidate.ts";
import { LANDING_COMMIT } from "./commit.ts";
import { LANDING, LANDING_JOURNAL, LANDING_SNAPSHOT } from "./landing.ts";
import { TEXT_CONTRACTS } from "./text-contracts.ts";

type Code = keyof typeof FINDINGS.workflow;

/** A check by the room's own validator, with the codes it can raise. */
function own(codes: readonly Code[], judge: (value: JsonValue) => Verdict<unknown>): CustomCheck {
  return {
    codes: Object.fromEntries(codes.map((code) => [code, FINDINGS.workflow[code]])),
    check: (value) =>
      judge(value).errors.map(({ code, at, message }): Problem => ({ code, pointer: at ?? "", message })),
  };
}

const text = z.string();
const amount = z.int().min(1);
const FIELDS = ["FIELD_MISSING", "FIELD_TYPE", "FIELD_VALUE"] as const;

const FILE_REQUEST = defineContract({
  room: "workflow",
  name: "file-request",
  title: "File request",
  summary: "artifacts/file_request.json: which files the planner needs, and its budget.",
  schema: z.looseObject({
    schema_version: z.literal(FILE_REQUEST_VERSION),
    goal: text,
    needs: z.array(z.unknown()).max(10_000),
    budget: z.looseObject({ max_files: amount, max_total_bytes: amount }),
    reason: text,
  }),
  customCheck: own([...FIELDS, "SCHEMA_VERSION"], (value) => checkFileRequest(value, null)),
});

const CONTEXT_PACK = defineContract({
  room: "workflow",
  name: "context-pack",
  title: "Context pack",
  summary: "artifacts/context_pack.json: what the planner is shown, quoted from the repository.",
  schema: z.looseObject({
    schema_version: z.literal(CONTEXT_PACK_VERSION),
    goal: text,
    repo_slug: text,
    summary: text,
    files: z.array(z.looseObject({ path: text, why: text, content: text, truncated: z.literal(true).optional() })),
    omitted: z.array(z.looseObject({ path: text, reason: z.enum(OMIT_REASONS), detail: text.optional() })),
  }),
  customCheck: own([...FIELDS, "SCHEMA_VERSION"], (value) => checkContextPack(value)),
});

const FIND_RESULT = defineContract({
  room: "workflow",
  name: "find-result",
  title: "Find result",
  summary: "artifacts/find_result.json: the workflow the resolver selected for the goal.",
  schema: z.looseObject({
    schema_version: z.literal(FIND_RESULT_VERSION),
    selected_workflow_id: text,
    selected_version: text,
    candidates: z.array(z.looseObject({ workflow_id: text, version: text, score: z.number(), why: text })),
  }),
  customCheck: own([...FIELDS, "SCHEMA_VERSION"], (value) => checkFindResult(value)),
});

const FIND_WEB = defineContract({
  room: "workflow",
  name: "find-web",
  title: "Web research",
  summary: "artifacts/find_web.json: excerpts found on the web, within the guardrails.",
  schema: z.looseObject({
    schema_version: z.literal(FIND_WEB_VERSION),
    constraints: z.looseObject({ allow_domains: z.array(text), max_queries: amount, max_pages: amount }),
    queries: z.array(text).optional(),
    results: z.array(
      z.looseObject({
        url: text,
        locator: z.looseObject({ type: z.enum(["heading", "anchor", "line_range", "offset"]), value: text }),
        fetched_at: text,
        excerpt: text,
        why_relevant: text,
        risk_flags: z.array(text),
        query: text.optional(),
      }),
    ),
  }),
  customCheck: own(
    [
      ...FIELDS,
      "SCHEMA_VERSION",
      "FIND_WEB_URL",
      "FIND_WEB_DOMAIN",
      "FIND_WEB_LOCATOR",
      "FIND_WEB_MAX_PAGES",
      "FIND_WEB_MAX_QUERIES",
    ],
    (value) => checkFindWeb(value, null),
  ),
});

const paths = z.looseObject({ trace: text, verify_report: text, stdout_log: text, stderr_log: text });

const VERIFY_REPORT = defineContract({
  room: "workflow",
  name: "verify-report",
  title: "Verify report",
  summary: "artifacts/verify_report.json: every gate that ran, and what failed.",
  schema: z.looseObject({
    result: z.enum(["PASS", "FAIL"]),
    gate: z.enum(["lite", "full"]),
    iteration: z.int(),
    max_iterations: z.int(),
    commands: z.array(z.looseObject({ cmd: text, exit_code: z.int() })),
    failures: z.array(z.looseObject({ kind: text, id: text, message: text })),
    paths,
    artifacts: paths.optional(),
    executed_gates: z.array(text).optional(),
  }),
  customCheck: own([...FIELDS, "VERIFY_REPORT_INCONSISTENT"], (value) => checkVerifyReport(value, null)),
});

const DISPATCH_CONFIG = defineContract({
  room: "workflow",
  name: "dispatch-config",
  title: "Dispatch configuration",
  summary: "artifacts/dispatch_config.json: who acts for which role of a run.",
  schema: z.looseObject({
    schema_version: z.literal(DISPATCH_VERSION),
    mode: z.enum(PROVIDERS),
    role_providers: z.record(text, z.enum(PROVIDERS)).optional(),
    budgets: z.looseObject({ max_outbox_prompts: amount.optional() }).optional(),
  }),
  customCheck: own(
    [
      ...FIELDS,
      "SCHEMA_VERSION",
      "DISPATCH_PROVIDER_UNKNOWN",
      "DISPATCH_ROLE_UNKNOWN",
      "DISPATCH_PROVIDER_NOT_ALLOWED",
      "DISPATCH_LIBRARIAN_LOCK",
    ],
    (value) => checkDispatch(value),
  ),
});

const EVENT_CODES = [
  "EVENT_NOT_OBJECT",
  "EVENT_KEY_MISSING",
  "EVENT_KEY_TYPE",
  "EVENT_TS_INVALID",
  "EVENT_VALUE_INVALID",
] as const;

const RUN_EVENT = defineContract({
  room: "workflow",
  name: "run-event",
  title: "Event of a workflow run",
  summary: "One line of events.jsonl: time, role, event and path, then extras.",
  media: "jsonl",
  schema: z.looseObject({
    ts: text.regex(/^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{3})?Z$/),
    role: text.regex(/^[a-z][a-z_]*$/),
    event: text.regex(/^[A-Z][A-Z0-9_]*$/),
    path: text,
  }),
  customCheck: {
    codes: Object.fromEntries(EVENT_CODES.map((code) => [code, FINDINGS.workflow[code]])),
    check: (value) =>
      isJsonObject(value)
        ? findEventProblems(value).map(({ code, key, message }) => ({ code, pointer: `/${key}`, message }))
        : [{ code: "EVENT_NOT_OBJECT", pointer: "", message: "the line is not a JSON object" }],
  },
});

/** Every contract object of the workflow room (Artifact Contracts A to L, and RUN.json). */
export const WORKFLOW_CONTRACTS: readonly ContractObject[] = [
  FILE_REQUEST,
  CONTEXT_PACK,
  FIND_RESULT,
  FIND_WEB,
  VERIFY_REPORT,
  DISPATCH_CONFIG,
  RUN_EVENT,
  WORKFLOW_RUN,
  AGENT_RUN,
  AGENT_ATTEMPT,
  AGENT_PROFILE,
  AGENT_PRICES,
  AGENT_USAGE,
  CANDIDATE,
  CARRIED,
  CHOICE,
  AGENT_GATE,
  VERIFICATION,
  LANDING,
  LANDING_SNAPSHOT,
  LANDING_JOURNAL,
  LANDING_COMMIT,
  AGENT_CHANGE,
  AGENT_TRACE,
  TRANSCRIPT,
  ...TEXT_CONTRACTS,
];
