import { z } from "zod";
import { VerbatimError } from "../../../core/errors/index.ts";
import { defineOperation, LOCAL_SURFACES } from "../../../core/operation.ts";
import { validateDispatch } from "../artifacts/dispatch.ts";
import { sayFinding } from "../artifacts/finding.ts";
import { createRun, requireDispatch } from "../run/create-run.ts";
import { createDirectRun } from "../run/direct-run.ts";
import { MOST_ARTIFACT_BYTES } from "../run/gate/receive.ts";
import { Run } from "../run/run.ts";
import { readStatus } from "../run/status.ts";
import { statusSchema } from "./outputs.ts";
import type { WorkflowPorts } from "./ports.ts";

const texts = z.array(z.string().min(1)).default([]);

export const NEW = defineOperation({
  name: "workflow.new",
  summary: "Create a workflow run at HEAD, outside the repository.",
  effect: "mutate",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({
    goal: z.string().describe("what the run is for, 1 to 4000 characters"),
    run_id: z.string().optional().describe("id of the run; default: time and random digits"),
    allow_dirty: z.boolean().default(false).describe("start from the tracked files as they are on disk"),
    dispatch: z.string().optional().describe("file with a dispatch_config.json for this run"),
    direct: z.boolean().default(false).describe("write every planning artifact automatically, up to the patch"),
    verify: texts.describe("direct: a command of the gate lite, split into words, no shell (repeatable)"),
    no_verify: z.boolean().default(false).describe("direct: no commands for the gate lite"),
    files: texts.describe("direct: a file for the context pack (repeatable)"),
    allow: texts.describe("direct: a path prefix that may change (repeatable); default: everything"),
    deny: texts.describe("direct: a path prefix that may not change (repeatable)"),
    leave_out: texts.describe("direct: a path whose changes are dropped from a patch before the gate (repeatable)"),
    gate: z.enum(["lite", "full"]).default("lite").describe("direct: the most thorough gate to run"),
    max_files: z.int().min(1).optional().describe("direct: maximum number of files a patch may change"),
    max_added_lines: z.int().min(0).optional().describe("direct: maximum number of lines a patch may add"),
    max_iterations: z.int().min(1).max(100).optional().describe("direct: maximum number of verifications"),
  }),
  output: statusSchema,
  run: async (ports: WorkflowPorts, input) => {
    requireDispatch(ports);
    if (!input.direct) refuseDirectFlags(input);
    const runId = input.run_id ?? null;
    const created = input.direct
      ? await createDirectRun(ports, {
          goal: input.goal,
          runId,
          verify: input.verify,
          noVerify: input.no_verify,
          files: input.files,
          allow: input.allow,
          deny: input.deny,
          leaveOut: input.leave_out,
          gate: input.gate,
          maxFiles: input.max_files ?? null,
          maxAddedLines: input.max_added_lines ?? null,
          maxIterations: input.max_iterations ?? null,
        })
      : await createRun(ports, {
          goal: input.goal,
          runId,
          allowDirty: input.allow_dirty,
          dispatch: input.dispatch === undefined ? null : await readDispatch(ports, input.dispatch),
          policy: ports.config.patch,
          direct: null,
        });
    return await readStatus(Run.load(ports, created.folder));
  },
});

const DIRECT_TEXTS = ["verify", "files", "allow", "deny", "leave_out"] as const;
const DIRECT_NUMBERS = ["max_files", "max_added_lines", "max_iterations"] as const;

/** Someone who gives a scope or a command expects it to hold; a run of roles takes both from its artifacts. */
function refuseDirectFlags(
  input: {
    readonly [key in (typeof DIRECT_TEXTS)[number]]: readonly string[];
  } & { readonly [key in (typeof DIRECT_NUMBERS)[number]]?: number | undefined } & {
    readonly no_verify: boolean;
    readonly gate: string;
  },
): void {
  const given = [
    ...DIRECT_TEXTS.filter((key) => input[key].length > 0),
    ...DIRECT_NUMBERS.filter((key) => input[key] !== undefined),
    ...(input.no_verify ? ["no_verify"] : []),
    ...(input.gate === "lite" ? [] : ["gate"]),
  ];
  if (given.length === 0) return;
  const flags = given.map((key) => `--${key === "files" ? "file" : key.replaceAll("_", "-")}`);
  throw new VerbatimError("USAGE", {
    message: {
      cli: `only a direct run accepts ${flags.join(", ")}`,
      others: `only a direct run accepts ${given.join(", ")}`,
    },
    fix: {
      cli: "Add --direct, or leave them out: the plan and the configuration decide.",
      others: "Set direct to true, or leave them out: the plan and the configuration decide.",
    },
  });
}

async function readDispatch(ports: WorkflowPorts, file: string): Promise<Uint8Array> {
  const bytes = await ports.files.read(file, MOST_ARTIFACT_BYTES);
  const [first] = validateDispatch(bytes, file).errors;
  if (first === undefined) return bytes;
  throw new VerbatimError("USAGE", {
    message: `${first.code}: ${sayFinding(first)}`,
    where: `${file}:${first.line ?? 1}`,
    fix: {
      cli: `Correct the file: verbatim workflow validate ${file} --kind dispatch_config`,
      others: "Correct the dispatch configuration.",
    },
  });
}
