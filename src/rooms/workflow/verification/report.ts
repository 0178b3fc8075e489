import { z } from "zod";
import { isJsonObject, type JsonValue } from "../../../core/canonical/index.ts";
import { defineContract } from "../../../core/contracts/index.ts";
import { FINDINGS } from "../../../core/errors/index.ts";

export const VERIFICATION_VERSION = "verbatim-verification-v1";

const text = z.string().min(1);
const count = z.int().min(0);
const exit = z.int().min(0).max(255);

const setup = z.strictObject({
  cmd: text,
  why: text,
  exit_code: exit,
  ms: count,
  hosts: z.array(text),
  /** What it said about its failure; not there when it passed. */
  tail: z.array(z.string()).optional(),
});

const command = z.strictObject({
  cmd: text,
  exit_code: exit,
  ms: count,
  /** Why it counts as failed; null when it passed. */
  reason: text.nullable(),
  /** What a failed command said about its failure. */
  tail: z.array(z.string()),
});

const baseline = z.strictObject({
  cmd: text,
  exit_code: exit,
  ms: count,
  /** Whether the result was known from an earlier verification of the same base. */
  kept: z.boolean(),
});

/** One verification of a candidate: what it stood on, what ran, what came of it. */
export const VERIFICATION = defineContract({
  room: "workflow",
  name: "verification",
  title: "Verification of a candidate",
  summary: "agent/verifications/NN/report.json: what a candidate was verified on, which commands ran, what came of it.",
  schema: z.strictObject({
    schema_version: z.literal(VERIFICATION_VERSION),
    v: z.int().min(1),
    /** SHA-256 of the candidate. */
    candidate: text,
    base: z.strictObject({
      kind: z.enum(["view", "copy", "checkout"]),
      tree: text,
      head: text,
      ignored: z.strictObject({ folders: z.array(text), changed_since: z.array(text) }),
    }),
    setup: z.array(setup),
    commands: z.array(command),
    baseline: z.array(baseline),
    result: z.enum(["PASS", "FAIL", "NONE"]),
    code: z.enum(["SETUP_FAILED", "VERIFY_FAILED"]).nullable(),
    reason: text.nullable(),
    notices: z.array(text),
    /** Set-up that the place would need and that nobody asked for. */
    lacks: z.array(z.strictObject({ argv: z.array(z.string()).min(1), cwd: text, why: text })).optional(),
    masks: z.array(text),
    network: z.enum(["inherit", "none", "allow"]),
    caps: z.record(text, z.union([text, count])).nullable(),
    catalytic_run: text.nullable(),
    started_at: text,
    finished_at: text,
  }),
  checks: [
    {
      code: "VERIFICATION_INCONSISTENT",
      summary: FINDINGS.workflow.VERIFICATION_INCONSISTENT,
      run: findContradictions,
    },
  ],
});

export type VerificationReport = z.infer<(typeof VERIFICATION)["schema"]>;

/** No result without its reason, no PASS with a failed command, no FAIL without a code. */
function findContradictions(value: JsonValue): string[] {
  if (!isJsonObject(value)) return [];
  const { result, reason, code, commands, setup: before } = value;
  const ran = [...toArray(before), ...toArray(commands)].filter(isJsonObject);
  const isFailed = ran.some(({ exit_code }) => typeof exit_code === "number" && exit_code !== 0);
  const pointers: string[] = [];
  if ((result === "PASS") !== (reason === null)) pointers.push("/reason");
  if ((result === "FAIL") !== (code !== null)) pointers.push("/code");
  if (result === "PASS" && (isFailed || toArray(commands).length === 0)) pointers.push("/result");
  if (result === "NONE" && ran.length > 0) pointers.push("/result");
  return pointers;
}

/** What the set-up or the command that failed said about it. */
export function findFailedTail({
  setup: before,
  commands,
}: Pick<VerificationReport, "setup" | "commands">): readonly string[] {
  const broken = before.find(({ tail }) => tail !== undefined)?.tail;
  return broken ?? commands.find(({ reason }) => reason !== null)?.tail ?? [];
}

function toArray(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : [];
}
