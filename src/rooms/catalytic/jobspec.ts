import {
  codePointLength,
  Float,
  formatCanonical,
  isHash,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  sortedUnique,
  toPointerToken,
  utf8Length,
} from "../../core/canonical/index.ts";
import { findLexicalCode, normalizeOrRoot, normalizePath } from "./path-rules.ts";
import type { PointedError, Settings } from "./policy.ts";
import { DETERMINISMS, type Determinism, GUARD_REQUESTS, type GuardRequest, type NetworkMode } from "./words.ts";

export interface SkillClaim {
  readonly path?: string;
  readonly declaration: "read_only" | "catalytic" | "writer";
  readonly manifest_sha256?: string;
}

/** What a run declares before anything happens (CMP-01, Phase 0). */
export interface JobSpec {
  readonly schema_version: "cmp01-jobspec-1";
  readonly run_id: string;
  readonly job_id: string;
  readonly intent: string;
  readonly determinism: Determinism;
  readonly catalytic_domains: readonly string[];
  readonly durable_output_roots: readonly string[];
  readonly outputs: { readonly durable_paths: readonly string[] };
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: { readonly allow: readonly string[]; readonly set: Readonly<Record<string, string>> };
  readonly inputs: readonly string[];
  readonly timeout_ms: number;
  readonly expected_exit_codes: readonly number[];
  readonly guard: GuardRequest;
  readonly network: NetworkMode;
  readonly memo: boolean;
  readonly strict_mtime: boolean;
  readonly view: boolean;
  readonly skill: SkillClaim | null;
  readonly previous_proof_hash: string | null;
  readonly metadata: JsonObject;
}

export interface JobSpecReading {
  readonly ok: boolean;
  readonly errors: readonly PointedError[];
  /** With all defaults; domains, roots and outputs as they were given, because preflight judges them as given. */
  readonly jobspec: JobSpec | null;
}

export const DEFAULT_ALLOWED = ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TZ", "USER"] as const;
const MAX_ARGV_BYTES = 1024 * 1024;
const MAX_METADATA_BYTES = 16 * 1024;
const RUN_ID = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const JOB_ID = /^[a-z0-9][a-z0-9_-]{0,127}$/;
const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const NOT_ONE_LINE = /[\p{Cc}\u2028\u2029]/u;

type Fail = (pointer: string) => void;
type Defaults = Pick<Settings, "guard" | "network" | "memo">;

/** Whether a text can be a run id: the whole text, no trailing line feed. */
export function isRunId(text: string): boolean {
  return RUN_ID.test(text);
}

const FIELDS: Readonly<Record<string, (value: JsonValue, at: string, fail: Fail) => void>> = {
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
  network: (value, at, fail) => value === "none" || value === "inherit" || fail(at),
  memo: (value, at, fail) => typeof value === "boolean" || fail(at),
  strict_mtime: (value, at, fail) => typeof value === "boolean" || fail(at),
  view: (value, at, fail) => typeof value === "boolean" || fail(at),
  skill: checkSkillClaim,
  previous_proof_hash: (value, at, fail) => value === null || (typeof value === "string" && isHash(value)) || fail(at),
  metadata: (value, at, fail) => isMetadata(value) || fail(at),
};

const REQUIRED = [
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

/** Every field of a JobSpec that breaks its rule, or the JobSpec with all defaults filled in. Paths are not judged yet. */
export function parseJobSpec(
  value: JsonValue,
  defaults: Defaults = { guard: "auto", network: "inherit", memo: false },
): JobSpecReading {
  const errors: PointedError[] = [];
  const fail: Fail = (pointer) => void errors.push({ code: "JOBSPEC_INVALID", pointer });
  if (!isJsonObject(value)) {
    fail("");
    return { ok: false, errors, jobspec: null };
  }
  for (const key of Object.keys(value)) {
    if (Object.hasOwn(FIELDS, key)) FIELDS[key]!(value[key]!, `/${key}`, fail);
    else fail(`/${toPointerToken(key)}`);
  }
  for (const key of REQUIRED) if (!Object.hasOwn(value, key)) fail(`/${key}`);
  const memo = value["memo"] ?? defaults.memo;
  // Only a deterministic job may be answered from memory; a default never makes a spec invalid.
  if (value["memo"] === true && value["determinism"] !== "deterministic") fail("/memo");
  if (errors.length > 0) return { ok: false, errors, jobspec: null };
  return { ok: true, errors, jobspec: fillIn(value, { ...defaults, memo: memo === true }) };
}

function fillIn(value: JsonObject, defaults: Defaults): JobSpec {
  const given = value as unknown as Partial<JobSpec> & JobSpec;
  const { allow, set } = { ...given.env } as Partial<JobSpec["env"]>;
  const determinism = given.determinism;
  return {
    schema_version: "cmp01-jobspec-1",
    run_id: given.run_id,
    job_id: given.job_id,
    intent: given.intent,
    determinism,
    catalytic_domains: given.catalytic_domains,
    durable_output_roots: given.durable_output_roots,
    outputs: { durable_paths: given.outputs.durable_paths },
    command: given.command,
    cwd: normalizeLawful(given.cwd ?? "."),
    env: { allow: sortedUnique(allow ?? DEFAULT_ALLOWED), set: set ?? {} },
    inputs: sortedUnique((given.inputs ?? []).map(normalizeLawful)),
    timeout_ms: given.timeout_ms ?? 3_600_000,
    expected_exit_codes: [...new Set(given.expected_exit_codes ?? [0])].sort((a, b) => a - b),
    guard: given.guard ?? defaults.guard,
    network: given.network ?? defaults.network,
    memo: defaults.memo && determinism === "deterministic",
    strict_mtime: given.strict_mtime ?? false,
    view: given.view ?? false,
    skill: given.skill ?? null,
    previous_proof_hash: given.previous_proof_hash ?? null,
    metadata: given.metadata ?? {},
  };
}

// A path that breaks a lexical rule stays as it is, so that preflight can name it.
function normalizeLawful(path: string): string {
  return findLexicalCode(path) === null ? normalizeOrRoot(path) : path;
}

/** The JobSpec as JOBSPEC.json keeps it: lists of paths normalised, without repetitions, by bytes. */
export function normalizeJobSpec(jobspec: JobSpec): JobSpec {
  return {
    ...jobspec,
    catalytic_domains: sortedUnique(jobspec.catalytic_domains.map(normalizeOrRoot)),
    durable_output_roots: sortedUnique(jobspec.durable_output_roots.map(normalizeOrRoot)),
    outputs: { durable_paths: sortedUnique(jobspec.outputs.durable_paths.map(normalizeOutput)) },
  };
}

/** An output path: normalised, keeping the trailing slash that declares a directory. */
export function normalizeOutput(path: string): string {
  return normalizePath(path) + (path.endsWith("/") ? "/" : "");
}

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
function checkTexts(value: JsonValue, at: string, least: number, most: number, fail: Fail): void {
  if (!Array.isArray(value) || value.length < least || value.length > most) fail(at);
  else checkItems(value, at, (item) => typeof item === "string", fail);
}

function checkOutputs(value: JsonValue, at: string, fail: Fail): void {
  if (!checkKeys(value, at, ["durable_paths"], fail)) return;
  const paths = value["durable_paths"];
  if (paths === undefined) fail(`${at}/durable_paths`);
  else checkTexts(paths, `${at}/durable_paths`, 0, 1024, fail);
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
