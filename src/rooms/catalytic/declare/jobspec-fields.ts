import {
  codePointLength,
  Float,
  formatCanonical,
  isHash,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  toPointerToken,
  utf8Length,
} from "../../../core/canonical/index.ts";
import { GUARD_REQUESTS } from "../../../core/contracts/guards.ts";
import { DETERMINISMS } from "../contracts/constants.ts";

const MAX_ARGV_BYTES = 1024 * 1024;
const MAX_METADATA_BYTES = 16 * 1024;
const RUN_ID = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const JOB_ID = /^[a-z0-9][a-z0-9_-]{0,127}$/;
const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const NOT_ONE_LINE = /[\p{Cc}\u2028\u2029]/u;

/** Notes that what is at a pointer does not fit its rule. */
export type Fail = (pointer: string) => void;

/** Whether a text can be a run id: the whole text, no trailing line feed. */
export function isRunId(text: string): boolean {
  return RUN_ID.test(text);
}

/** The rule of each field. */
export const FIELDS: Readonly<Record<string, (value: JsonValue, at: string, fail: Fail) => void>> = {
  schema_version: (value, at, fail) => value === "cmp01-jobspec-1" || fail(at),
  run_id: (value, at, fail) => (typeof value === "string" && RUN_ID.test(value)) || fail(at),
  job_id: (value, at, fail) => (typeof value === "string" && JOB_ID.test(value)) || fail(at),
  intent: (value, at, fail) => isIntent(value) || fail(at),
  determinism: (value, at, fail) => (DETERMINISMS as readonly unknown[]).includes(value) || fail(at),
  catalytic_domains: (value, at, fail) => checkTexts(value, at, 1, 64, fail),
  durable_output_roots: (value, at, fail) => checkTexts(value, at, 0, 64, fail),
  outputs: checkOutputs,
  command: checkCommand,
  cwd: (value, at, fail) => isText(value) || fail(at),
  env: checkEnv,
  inputs: (value, at, fail) => checkTexts(value, at, 0, 1024, fail),
  timeout_ms: (value, at, fail) => isIntegerFrom(value, 1, 86_400_000) || fail(at),
  expected_exit_codes: checkExitCodes,
  guard: (value, at, fail) => (GUARD_REQUESTS as readonly unknown[]).includes(value) || fail(at),
  network: (value, at, fail) => value === "none" || value === "inherit" || value === "allow" || fail(at),
  memo: (value, at, fail) => typeof value === "boolean" || fail(at),
  strict_mtime: (value, at, fail) => typeof value === "boolean" || fail(at),
  view: (value, at, fail) => typeof value === "boolean" || fail(at),
  skill: checkSkillClaim,
  previous_proof_hash: (value, at, fail) => value === null || (typeof value === "string" && isHash(value)) || fail(at),
  metadata: (value, at, fail) => isMetadata(value) || fail(at),
};

/** Fields that must be there. */
export const REQUIRED = [
  "schema_version",
  "run_id",
  "job_id",
  "intent",
  "determinism",
  "catalytic_domains",
  "durable_output_roots",
  "outputs",
  "command",
];

function isText(value: JsonValue): value is string {
  return typeof value === "string" && value.isWellFormed();
}

function isIntent(value: JsonValue): boolean {
  if (!isText(value) || NOT_ONE_LINE.test(value)) return false;
  return value.trim() !== "" && codePointLength(value) <= 500;
}

function isIntegerFrom(value: JsonValue, low: number, high: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= low && value <= high;
}

// Paths may be ill-formed texts: preflight has a code for them.
function checkTexts(value: JsonValue | undefined, at: string, least: number, most: number, fail: Fail): void {
  if (!Array.isArray(value) || value.length < least || value.length > most) fail(at);
  else checkItems(value, at, (item) => typeof item === "string", fail);
}

function checkOutputs(value: JsonValue, at: string, fail: Fail): void {
  if (!checkKeys(value, at, ["durable_paths"], fail)) return;
  checkTexts(value["durable_paths"], `${at}/durable_paths`, 0, 1024, fail);
}

function checkCommand(value: JsonValue, at: string, fail: Fail): void {
  if (!Array.isArray(value) || value.length < 1 || value.length > 4096) {
    fail(at);
    return;
  }
  const isGood = (item: JsonValue, i: number) => isText(item) && !item.includes("\0") && (i > 0 || item !== "");
  checkItems(value, at, isGood, fail);
  const bytes = value.reduce((sum: number, item: JsonValue) => sum + (isText(item) ? utf8Length(item) + 1 : 0), 0);
  if (bytes > MAX_ARGV_BYTES) fail(at);
}

function checkEnv(value: JsonValue, at: string, fail: Fail): void {
  if (!checkKeys(value, at, ["allow", "set"], fail)) return;
  const { allow, set } = value as { allow?: JsonValue; set?: JsonValue };
  if (allow !== undefined) {
    if (!Array.isArray(allow)) fail(`${at}/allow`);
    else checkItems(allow, `${at}/allow`, isEnvName, fail);
  }
  if (set === undefined) return;
  if (!isJsonObject(set)) {
    fail(`${at}/set`);
    return;
  }
  for (const name of Object.keys(set)) {
    const text = set[name]!;
    if (!isEnvName(name) || !isText(text) || text.includes("\0")) fail(`${at}/set/${toPointerToken(name)}`);
  }
}

/** Whether a JobSpec may name a variable: ours are not for the command to set. */
export function isEnvName(name: JsonValue): name is string {
  return typeof name === "string" && ENV_NAME.test(name) && !name.startsWith("VERBATIM_");
}

function checkExitCodes(value: JsonValue, at: string, fail: Fail): void {
  if (!Array.isArray(value) || value.length < 1 || value.length > 256) fail(at);
  else checkItems(value, at, (code) => isIntegerFrom(code, 0, 255), fail);
}

function checkItems(
  items: readonly JsonValue[],
  at: string,
  isGood: (item: JsonValue, index: number) => boolean,
  fail: Fail,
): void {
  for (const [i, item] of items.entries()) if (!isGood(item, i)) fail(`${at}/${i}`);
}

function checkSkillClaim(value: JsonValue, at: string, fail: Fail): void {
  if (value === null) return;
  if (!checkKeys(value, at, ["path", "declaration", "manifest_sha256"], fail)) return;
  const { path, declaration, manifest_sha256: hash } = value as Record<string, JsonValue | undefined>;
  if (path !== undefined && !isText(path)) fail(`${at}/path`);
  if (declaration !== "read_only" && declaration !== "catalytic" && declaration !== "writer") fail(`${at}/declaration`);
  if (hash !== undefined && (typeof hash !== "string" || !isHash(hash))) fail(`${at}/manifest_sha256`);
}

function checkKeys(value: JsonValue, at: string, names: readonly string[], fail: Fail): value is JsonObject {
  if (!isJsonObject(value)) {
    fail(at);
    return false;
  }
  for (const key of Object.keys(value)) if (!names.includes(key)) fail(`${at}/${toPointerToken(key)}`);
  return true;
}

function isMetadata(value: JsonValue): boolean {
  if (!isJsonObject(value) || !holdsIntegersOnly(value)) return false;
  return utf8Length(formatCanonical(value)) <= MAX_METADATA_BYTES;
}

function holdsIntegersOnly(value: JsonValue): boolean {
  if (value instanceof Float || typeof value === "bigint") return false;
  if (typeof value === "number") return Number.isSafeInteger(value);
  if (typeof value === "string") return value.isWellFormed();
  if (Array.isArray(value)) return value.every(holdsIntegersOnly);
  if (isJsonObject(value))
    return Object.keys(value).every((key) => key.isWellFormed() && holdsIntegersOnly(value[key]!));
  return true;
}
