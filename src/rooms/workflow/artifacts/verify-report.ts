import { isJsonObject, type JsonObject, type JsonValue } from "../../../core/canonical/index.ts";
import type { VerificationReport } from "../verification/report.ts";
import type { Verdict } from "./finding.ts";
import { FieldCheck, validateJson } from "./json.ts";

export const VERIFY_REPORT_FILE = "artifacts/verify_report.json";

/** The seed's values of `paths` (Artifact Contracts I). */
export const REPORT_PATHS = {
  trace: "TRACE.md",
  verify_report: VERIFY_REPORT_FILE,
  bundle: "failure_bundle.zip",
  stdout_log: "logs/verify.stdout.log",
  stderr_log: "logs/verify.stderr.log",
  plan: "artifacts/PLAN.md",
  patch: "artifacts/diff.patch",
} as const;

const OPTIONAL_PATHS: readonly string[] = ["bundle", "plan", "patch"];

/** One failure of a verification. */
export interface VerifyFailure {
  readonly kind: string;
  readonly id: string;
  readonly message: string;
}

/** One command of a verification, with our extra fields. */
export interface VerifyCommand {
  readonly cmd: string;
  readonly exit_code: number;
  readonly gate: string;
  readonly duration_ms: number;
}

/** artifacts/verify_report.json as the verifier writes it. */
export interface VerifyReport {
  readonly result: "PASS" | "FAIL";
  readonly gate: "lite" | "full";
  readonly iteration: number;
  readonly max_iterations: number;
  readonly commands: readonly VerifyCommand[];
  readonly failures: readonly VerifyFailure[];
  readonly paths: Readonly<Record<string, string>>;
  readonly artifacts: Readonly<Record<string, string>>;
  readonly executed_gates: readonly string[];
  readonly patch_sha256: string;
  readonly plan_sha256: string;
  readonly base_commit: string;
  readonly isolation: "worktree" | "catalytic";
  readonly catalytic_run_id?: string;
  readonly started_at: string;
  readonly finished_at: string;
  /** Of changes that were verified in a view: what it stood on, and what was installed first. */
  readonly base?: VerificationReport["base"];
  readonly setup?: VerificationReport["setup"];
}

/** Judges the value of a verify report; its consistency only when its types are right. */
export function checkVerifyReport(
  value: JsonValue,
  declaredGates: readonly string[] | null,
  file = VERIFY_REPORT_FILE,
): Verdict<JsonObject> {
  const check = new FieldCheck(file);
  const root = check.object(value, "");
  if (root === null) return check.verdict<JsonObject>(null);
  const result = check.memberWord(root, "", "result", ["PASS", "FAIL"]);
  check.memberWord(root, "", "gate", ["lite", "full"]);
  const iteration = check.memberInteger(root, "", "iteration", null);
  const most = check.memberInteger(root, "", "max_iterations", null);
  const codes = readCommands(root, check);
  const failures = readFailures(root, check);
  const paths = readPaths(root, check);
  const executed = readGates(root, check);
  if (check.errors.length > 0 || result === null || iteration === null || most === null || paths === null) {
    return check.verdict<JsonObject>(null);
  }
  if (iteration > most) check.add("FIELD_VALUE", "/iteration", `${iteration} is above max_iterations ${most}`);
  checkPathValues(paths, check);
  checkConsistency(result, { codes, failures, paths, root, executed, declaredGates }, check);
  return check.verdict(root);
}

/**
 * Judges the bytes of a verify report.
 *
 * @example
 * validateVerifyReport("{}", null).errors[0]?.code; // => "FIELD_MISSING"
 */
export function validateVerifyReport(
  bytes: Uint8Array | string,
  declaredGates: readonly string[] | null,
  file = VERIFY_REPORT_FILE,
): Verdict<JsonObject> {
  return validateJson(bytes, file, (value) => checkVerifyReport(value, declaredGates, file));
}

function readCommands(root: JsonObject, check: FieldCheck): number[] {
  const codes: number[] = [];
  for (const [i, value] of (check.memberArray(root, "", "commands") ?? []).entries()) {
    const at = `/commands/${i}`;
    const command = check.object(value, at);
    if (command === null) continue;
    check.memberText(command, at, "cmd");
    codes.push(check.memberInteger(command, at, "exit_code", null) ?? 0);
  }
  return codes;
}

function readFailures(root: JsonObject, check: FieldCheck): number {
  const failures = check.memberArray(root, "", "failures") ?? [];
  for (const [i, value] of failures.entries()) {
    const failure = check.object(value, `/failures/${i}`);
    if (failure === null) continue;
    for (const key of ["kind", "id", "message"]) check.memberText(failure, `/failures/${i}`, key);
  }
  return failures.length;
}

function readPaths(root: JsonObject, check: FieldCheck): JsonObject | null {
  const paths = check.memberObject(root, "", "paths");
  for (const key of Object.keys(REPORT_PATHS)) {
    if (paths !== null && (!OPTIONAL_PATHS.includes(key) || Object.hasOwn(paths, key))) {
      check.memberText(paths, "/paths", key);
    }
  }
  if (Object.hasOwn(root, "artifacts")) check.memberObject(root, "", "artifacts");
  return paths;
}

function readGates(root: JsonObject, check: FieldCheck): readonly JsonValue[] {
  if (!Object.hasOwn(root, "executed_gates")) return [];
  const gates = check.memberArray(root, "", "executed_gates") ?? [];
  for (const [i, gate] of gates.entries()) {
    if (typeof gate !== "string") check.add("FIELD_TYPE", `/executed_gates/${i}`, "must be a string");
  }
  return gates;
}

function checkPathValues(paths: JsonObject, check: FieldCheck): void {
  for (const [key, path] of Object.entries(REPORT_PATHS)) {
    if (Object.hasOwn(paths, key) && paths[key] !== path) {
      check.add("FIELD_VALUE", `/paths/${key}`, `must be ${JSON.stringify(path)}`);
    }
  }
}

interface Facts {
  readonly codes: readonly number[];
  readonly failures: number;
  readonly paths: JsonObject;
  readonly root: JsonObject;
  readonly executed: readonly JsonValue[];
  readonly declaredGates: readonly string[] | null;
}

const INCONSISTENT = "VERIFY_REPORT_INCONSISTENT";

function checkConsistency(result: string, facts: Facts, check: FieldCheck): void {
  const bundled = Object.hasOwn(facts.paths, "bundle");
  if (result === "PASS") {
    if (facts.failures > 0 || facts.codes.some((code) => code !== 0)) {
      check.add(INCONSISTENT, "/result", "PASS, but a command or a gate failed");
    }
    if (bundled) check.add(INCONSISTENT, "/paths/bundle", "a PASS must not have a failure bundle");
    for (const gate of facts.declaredGates ?? []) {
      if (!facts.executed.includes(gate)) {
        check.add("VERIFY_GATE_NOT_EXECUTED", "/executed_gates", `the declared gate ${gate} was not executed`, {
          item: gate,
        });
      }
    }
  } else {
    if (facts.failures === 0) check.add(INCONSISTENT, "/failures", "a FAIL must say what failed");
    if (!bundled) check.add("FIELD_MISSING", "/paths/bundle", "is missing");
  }
  const mirror = facts.root["artifacts"];
  if (mirror !== undefined && !isSameMap(mirror, facts.paths))
    check.add(INCONSISTENT, "/artifacts", "must equal paths");
}

function isSameMap(a: JsonValue, b: JsonObject): boolean {
  if (!isJsonObject(a)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && a[key] === b[key]);
}
