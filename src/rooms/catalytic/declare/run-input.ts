import { z } from "zod";
import {
  hashCanonical,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from "../../../core/canonical/index.ts";
import { GUARD_REQUESTS } from "../../../core/contracts/guards.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { toHex } from "../../../core/hex.ts";
import { formatTime } from "../../../core/time.ts";
import { DETERMINISMS } from "../contracts/constants.ts";
import type { RoomPorts } from "../operations/ports.ts";
import { readPolicy } from "./declare.ts";
import { DEFAULT_ALLOWED } from "./jobspec.ts";
import { isInside, normalizePath } from "./path-rules.ts";
import type { Policy } from "./policy.ts";

const MAX_JOBSPEC_BYTES = 1024 * 1024;

const many = (text: string) => z.array(z.string()).default([]).describe(text);

/** The input of `catalytic.run`: a JobSpec file, or the fields of one. */
export const runInput = z.strictObject({
  command: z.array(z.string()).default([]).describe("The command and its arguments, after --."),
  jobspec: z.string().optional().describe("A JobSpec file; - reads standard input."),
  domain: many("A folder the command may change; it is restored afterwards. Can be repeated."),
  out: many("An output that stays; a trailing slash means a folder. Can be repeated."),
  out_root: many("A folder outputs may be in (default: the configured root of each output)."),
  input: many("A path the command reads; its hash is recorded. Can be repeated."),
  intent: z.string().optional().describe("One sentence: what the run is for."),
  job_id: z.string().optional().describe("A stable name for this job."),
  run_id: z.string().optional().describe("The id of this run (default: the time and random digits)."),
  determinism: z.enum(DETERMINISMS).optional().describe("Whether the same inputs give the same outputs."),
  cwd: z.string().optional().describe("Where the command starts, below the root."),
  env: many("NAME passes one of your variables on, NAME=VALUE sets one. Can be repeated."),
  timeout: z.string().optional().describe("How long the command may run: 30s, 5m, 1h."),
  expect_exit: z.string().optional().describe("Exit codes that count as success: 0,1"),
  guard: z.enum(GUARD_REQUESTS).optional().describe("What confines the command."),
  network: z.enum(["none", "inherit"]).optional().describe("Whether the command has network access."),
  memo: z.boolean().default(false).describe("Reuse the outputs of an identical, deterministic run."),
  strict_mtime: z.boolean().default(false).describe("Include file times in the proof."),
  skill: z.string().optional().describe("The folder of the skill whose command this is."),
  sign: z.boolean().default(false).describe("Sign the proof with the configured key."),
  stdin: z.boolean().default(false).describe("Give your standard input to the command."),
  keep_work: z.boolean().default(false).describe("Keep the work directory so that you can look at it."),
  tripwire: z
    .enum(["fail", "report"])
    .optional()
    .describe("How to treat a change outside the domains under a namespace guard."),
  exit_code: z.enum(["tool", "command"]).default("tool").describe("Whose exit code to end with."),
  check: z.boolean().default(false).describe("Only check the JobSpec; write nothing."),
});

export type RunInput = z.output<typeof runInput>;

const WITH_JOBSPEC = [
  "jobspec",
  "run_id",
  "guard",
  "network",
  "memo",
  "sign",
  "check",
  "stdin",
  "keep_work",
  "tripwire",
  "exit_code",
  "skill",
];

/** The JobSpec a caller means, from a file or from the fields. */
export async function toJobSpec(ports: RoomPorts, input: RunInput): Promise<JsonValue> {
  if (input.jobspec !== undefined) return readJobSpecFile(ports, input);
  const { policy } = readPolicy(ports.places().config);
  if (input.command.length === 0)
    throw usage("there is no command", "Write it after --: verbatim catalytic run --domain DIR -- CMD");
  if (input.domain.length === 0) {
    const roots = policy.catalytic_roots.join(", ");
    throw usage("there is no domain", `Name a folder the command may change with --domain, in one of: ${roots}`);
  }
  const { allow, set } = readEnv(input.env);
  const cwd = input.cwd ?? ".";
  const job = hashCanonical(ports.crypto, { argv: input.command, cwd });
  const spec: JsonObject = {
    schema_version: "cmp01-jobspec-1",
    run_id: input.run_id ?? makeRunId(ports),
    job_id: input.job_id ?? `job-${job.slice(0, 16)}`,
    intent: input.intent ?? describe(input.command),
    determinism: input.determinism ?? "nondeterministic",
    catalytic_domains: input.domain,
    durable_output_roots: input.out_root.length > 0 ? input.out_root : rootsOf(input.out, policy),
    outputs: { durable_paths: input.out },
    command: input.command,
    cwd,
    env: { allow, set },
    inputs: input.input,
  };
  if (input.timeout !== undefined) spec["timeout_ms"] = readDuration(input.timeout);
  if (input.expect_exit !== undefined) spec["expected_exit_codes"] = readCodes(input.expect_exit);
  if (input.guard !== undefined) spec["guard"] = input.guard;
  if (input.network !== undefined) spec["network"] = input.network;
  if (input.memo) spec["memo"] = true;
  if (input.strict_mtime) spec["strict_mtime"] = true;
  return spec;
}

async function readJobSpecFile(ports: RoomPorts, input: RunInput): Promise<JsonValue> {
  for (const [name, value] of Object.entries(input)) {
    const given = Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
    if (given && !WITH_JOBSPEC.includes(name)) {
      const what = name === "command" ? "a command" : `--${name.replaceAll("_", "-")}`;
      throw usage(`${what} cannot be combined with a JobSpec file`, "Put it in the file.");
    }
  }
  const bytes = await ports.files.read(input.jobspec!, MAX_JOBSPEC_BYTES);
  let value: JsonValue;
  try {
    value = parseJson(bytes, { file: input.jobspec! });
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    throw new VerbatimError("JOBSPEC_INVALID", {
      message: `the JobSpec is not JSON: ${thrown.message}`,
      where: thrown.where ?? input.jobspec!,
      fix: "Write strict JSON.",
      details: { errors: [{ code: "JOBSPEC_INVALID", pointer: "" }] },
      cause: thrown,
    });
  }
  if (!isJsonObject(value)) return value;
  const changed: JsonObject = { ...value };
  if (input.run_id !== undefined) changed["run_id"] = input.run_id;
  if (input.guard !== undefined) changed["guard"] = input.guard;
  if (input.network !== undefined) changed["network"] = input.network;
  if (input.memo) changed["memo"] = true;
  return changed;
}

function makeRunId({ clock, random }: RoomPorts): string {
  const time = formatTime(clock.now()).replaceAll(/[-:]/g, "").toLowerCase();
  return `r-${time.slice(0, 15)}z-${toHex(random.bytes(4))}`;
}

function describe(command: readonly string[]): string {
  const text = command
    .join(" ")
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ")
    .trim();
  return `Run ${text}`.slice(0, 200).toWellFormed();
}

function rootsOf(outputs: readonly string[], policy: Policy): string[] {
  return policy.durable_roots.filter((root) => outputs.some((path) => isInside(normalizePath(path), root)));
}

function readEnv(items: readonly string[]): { allow: string[]; set: Record<string, string> } {
  const allow: string[] = [...DEFAULT_ALLOWED];
  // A variable may be called `__proto__`.
  const set = Object.create(null) as Record<string, string>;
  for (const item of items) {
    const at = item.indexOf("=");
    if (at === -1) allow.push(item);
    else set[item.slice(0, at)] = item.slice(at + 1);
  }
  return { allow, set };
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

function readDuration(text: string): number {
  const [, digits, unit] = /^([0-9]{1,9})(ms|s|m|h)$/.exec(text) ?? [];
  if (digits === undefined || unit === undefined) throw usage(`${text} is not a duration`, "Write 30s, 5m or 1h.");
  return Number(digits) * UNITS[unit]!;
}

function readCodes(text: string): number[] {
  if (!/^[0-9]{1,3}(?:,[0-9]{1,3})*$/.test(text)) throw usage(`${text} is not a list of exit codes`, "Write 0,1");
  return text.split(",").map(Number);
}

function usage(message: string, fix: string): VerbatimError {
  return new VerbatimError("USAGE", { message, fix });
}
