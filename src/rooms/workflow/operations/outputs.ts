import { z } from "zod";
import { typed } from "../../../core/operation.ts";
import type { ArtifactFinding } from "../artifacts/finding.ts";

/** A finding as every verb reports it. */
export const findingSchema = typed<ArtifactFinding>(
  z.looseObject({
    code: z.string().describe("what is wrong"),
    file: z.string().describe("run-relative file"),
    line: z.int().nullable().describe("line number from 1, or null for something that is missing"),
    message: z.string().describe("what is wrong, in words"),
    fix: z.string().describe("what to do"),
  }),
);

const text = z.string();
const nullable = z.string().nullable();

/** Where a run stands. */
export const stepSchema = {
  run_id: text.describe("id of the run"),
  run_dir: text.describe("directory of the run"),
  status: z.enum(["running", "blocked", "pass", "fail"]).describe("status of the run"),
  stop_reason: nullable.describe("why the run ended, or null"),
  state: z.enum(["pass", "stopped", "blocked", "ready"]).describe("row of the state machine"),
  owner: nullable.describe("who acts next"),
  action: nullable.describe("what is done next"),
  target: nullable.describe("the artifact it is about"),
  code: text.describe("why"),
  message: text.describe("why, in words"),
  findings: z.array(findingSchema).describe("what is wrong with the target"),
};

export const statusSchema = z.strictObject({
  ...stepSchema,
  goal: text.describe("the goal"),
  iterations: z.strictObject({ used: z.int(), max: z.int().nullable() }).describe("verifications started and allowed"),
  rejections: z.strictObject({ used: z.int(), max: z.int() }).describe("rejected candidates and allowed ones"),
  prompts: z.strictObject({ used: z.int(), max: z.int() }).describe("prompts written and allowed"),
});

const patchFindingSchema = z.strictObject({ code: text, rule: text, path: text.optional() });

/** The answer of the patch gate. */
export const patchResultSchema = z.union([
  z.strictObject({
    verdict: z.literal("accept"),
    changed_paths: z.array(text),
    read_paths: z.array(text),
    added_lines: z.int(),
    deleted_lines: z.int(),
    operations: z.array(z.enum(["modify", "create", "delete", "rename", "copy"])),
  }),
  z.strictObject({
    verdict: z.literal("reject"),
    stage: z.enum(["parse", "path", "policy", "scope", "git_check"]),
    code: text,
    rule: text,
    line: z.int().optional(),
    path: text.optional(),
    findings: z.array(patchFindingSchema).optional(),
    stderr: text.optional(),
  }),
]);

/** What validators say about one file. */
export const judgedSchema = z.strictObject({
  file: text.describe("the file"),
  kind: text.describe("what it is"),
  errors: z.array(findingSchema).describe("why it is not valid"),
  warnings: z.array(findingSchema).describe("warnings"),
});
