import { z } from "zod";
import { isJsonObject } from "../../../core/canonical/index.ts";
import { GUARD_NAMES } from "../../../core/contracts/guards.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { defineOperation, LOCAL_SURFACES } from "../../../core/operation.ts";
import { violation } from "../contracts/parts.ts";
import { declareRun, readPolicy } from "../declare/declare.ts";
import { runInput, toJobSpec } from "../declare/run-input.ts";
import { runCatalytic } from "../run/run.ts";
import { NO_CHANGES } from "../tree/inside-changes.ts";
import type { RoomPorts } from "./ports.ts";
import { declareSkill, judgeSkill, runSkill } from "./skills.ts";

const runOutput = z.strictObject({
  run_id: z.string(),
  run_dir: z.string(),
  status: z.enum(["declared", "succeeded", "failed", "halted"]),
  accepted: z.boolean(),
  condition: z.string().nullable(),
  exit_code: z.int().nullable(),
  guard: z.enum(GUARD_NAMES).nullable().describe("Null for --check, which does not try a guard."),
  outputs: z.array(z.string()),
  quarantined: z.array(z.string()),
  violations: z.array(violation),
  proof_hash: z.string().nullable(),
  duration_ms: z.int(),
  next_step: z.string(),
  message: z.string(),
  interrupted_by: z.enum(["SIGINT", "SIGTERM"]).nullable(),
  memo_hit: z.boolean(),
  noise: z.array(z.string()),
  inside: z
    .strictObject({ added: z.int(), changed: z.int(), removed: z.int() })
    .describe("Paths the command added, changed and removed in its domains before they were restored."),
  compared: z.int().describe("Paths outside the domains whose stat was compared before and after."),
  refused: z
    .strictObject({ lines: z.int(), shown: z.array(z.string()) })
    .describe("Lines of standard error in which the command reports a write that the guard refused; the first five."),
});

export const catalyticRun = defineOperation({
  name: "catalytic.run",
  summary: "Runs a command that may change files, restores them, and proves it.",
  effect: "mutate",
  surfaces: LOCAL_SURFACES,
  input: runInput,
  output: runOutput,
  async run(ports: RoomPorts, input) {
    if (input.skill !== undefined) {
      const declared = await declareSkill(input.check ? withoutRecords(ports) : ports, input);
      if (declared !== null) return input.check ? mayRun(declared.jobspec.run_id) : runSkill(ports, declared);
    }
    const places = ports.places();
    const given = await toJobSpec(ports, input);
    const skill = input.skill === undefined ? null : await claimSkill(ports, input.skill);
    const jobspec = skill !== null && isJsonObject(given) ? { ...given, skill } : given;
    const request = { ...places, jobspec };
    if (input.check) return check(ports, request);
    const { settings } = readPolicy(places.config);
    const result = await runCatalytic(ports, {
      ...request,
      sign: input.sign ? (settings.signing?.key_file ?? noKey()) : null,
      stdin: input.stdin ? "inherit" : "null",
      keep_work: input.keep_work,
      ...(input.tripwire === undefined ? {} : { tripwire: input.tripwire }),
    });
    return {
      ...result,
      status: result.status as "succeeded" | "failed" | "halted",
      outputs: [...result.outputs],
      quarantined: [...result.quarantined],
      violations: result.violations.map(({ code, path, fields }) => ({
        code,
        path,
        ...(fields ? { fields: [...fields] } : {}),
      })),
      noise: [...result.noise],
      refused: { lines: result.refused.lines, shown: [...result.refused.shown] },
    };
  },
});

async function claimSkill(ports: RoomPorts, path: string) {
  const { manifest_sha256 } = await judgeSkill(ports, path, { has_domains: true, has_outputs: false });
  return { path, declaration: "catalytic", ...(manifest_sha256 === null ? {} : { manifest_sha256 }) };
}

function noKey(): never {
  throw new VerbatimError("USAGE", {
    message: "no signing key is configured",
    fix: {
      cli: "Set catalytic.signing.key_file in verbatim.config.json; create a key with: verbatim keys new NAME",
      others: "Set catalytic.signing.key_file in verbatim.config.json.",
    },
  });
}

async function check(ports: RoomPorts, request: Parameters<typeof declareRun>[1]) {
  const { jobspec } = await declareRun(withoutRecords(ports), request);
  return mayRun(jobspec.run_id);
}

/** To judge writes nothing, not even that it refused. */
function withoutRecords(ports: RoomPorts): RoomPorts {
  return { ...ports, records: { appendRun: async () => undefined, append: async () => undefined } };
}

function mayRun(run_id: string) {
  return {
    run_id,
    run_dir: "",
    status: "declared" as const,
    accepted: false,
    condition: null,
    exit_code: null,
    guard: null,
    outputs: [],
    quarantined: [],
    violations: [],
    proof_hash: null,
    duration_ms: 0,
    next_step: "Run it without --check.",
    message: "the JobSpec may run",
    interrupted_by: null,
    memo_hit: false,
    noise: [],
    inside: { ...NO_CHANGES },
    compared: 0,
    refused: { lines: 0, shown: [] },
  };
}
