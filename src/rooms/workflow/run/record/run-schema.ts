import { z } from "zod";
import { patchPolicy } from "../../../../core/contracts/config/index.ts";
import { defineContract, hashHex } from "../../../../core/contracts/index.ts";
import { CANDIDATE_STATES, RUN_VERSION } from "./run-state.ts";

const objectId = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);
const instant = z.string().regex(/^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$/);
const amount = z.int().min(0);
const texts = z.array(z.string());

const review = z.strictObject({
  review_sha256: hashHex,
  draft_sha256: hashHex,
  reasons_sha256: hashHex,
  expected_results_sha256: hashHex,
});

/** The published shape of RUN.json. */
const runSchema = z.strictObject({
  schema_version: z.literal(RUN_VERSION),
  run_id: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/),
  goal: z.string().min(1).max(4000),
  repo_slug: z.string().min(1),
  repo_root: z.string().min(1),
  repo_id: z
    .string()
    .regex(/^[0-9a-f]{32}$/)
    .optional(),
  common_dir: z.string().min(1).nullable().optional(),
  base_commit: objectId,
  base_tree: objectId,
  status: z.enum(["running", "blocked", "pass", "fail"]),
  stop_reason: z.string().min(1).nullable(),
  blocked: z
    .strictObject({ code: z.string(), message: z.string(), owner: z.string(), action: z.string(), target: z.string() })
    .nullable(),
  iterations: amount,
  patch_rejections: amount,
  candidates: z.array(
    z.strictObject({
      sha256: hashHex,
      plan_sha256: hashHex,
      state: z.enum(CANDIDATE_STATES),
      code: z.string().optional(),
      iteration: amount.optional(),
    }),
  ),
  context_pack: z.strictObject({
    file_request_sha256: hashHex.optional(),
    failed_request_sha256: hashHex.optional(),
    failed_code: z.string().optional(),
  }),
  reviews: z.record(z.string(), review),
  artifacts: z.record(z.string(), hashHex),
  policy: patchPolicy,
  in_progress: z.strictObject({ step: z.string(), iteration: amount, started_at: instant }).nullable(),
  created_at: instant,
  updated_at: instant,
  direct: z
    .strictObject({
      verify: z.array(z.array(z.string()).min(1)).nullable(),
      files: texts,
      leave_out: texts,
      policed: z.literal(false).optional(),
    })
    .optional(),
  prompts: z.record(z.string(), z.strictObject({ file: z.string(), target_sha256: hashHex.nullable() })).optional(),
  failures: z.array(hashHex).optional(),
});

export const WORKFLOW_RUN = defineContract({
  room: "workflow",
  name: "workflow-run",
  title: "Workflow run",
  summary: "RUN.json: everything about a workflow run that its artifacts do not say.",
  schema: runSchema,
});
