import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  sortedUnique,
  toPointerToken,
} from "../../../core/canonical/index.ts";
import type { GuardRequest } from "../../../core/contracts/guards.ts";
import type { Determinism, NetworkMode } from "../contracts/constants.ts";
import { type Fail, FIELDS, REQUIRED } from "./jobspec-fields.ts";
import { findLexicalCode, normalizeOrRoot, normalizePath } from "./path-rules.ts";
import type { PointedError } from "./policy.ts";
import type { Settings } from "./settings.ts";

interface SkillClaim {
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

interface JobSpecReading {
  readonly ok: boolean;
  readonly errors: readonly PointedError[];
  /** With all defaults; domains, roots and outputs as they were given, because preflight judges them as given. */
  readonly jobspec: JobSpec | null;
}

export const DEFAULT_ALLOWED = ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TZ", "USER"] as const;
type Defaults = Pick<Settings, "guard" | "network" | "memo">;

/**
 * Every field of a JobSpec that breaks its rule, or the JobSpec with all defaults filled in. Paths are not judged yet.
 *
 * @example
 * parseJobSpec({}).ok; // => false
 */
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
  // Every field that is there has passed its own check above.
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
