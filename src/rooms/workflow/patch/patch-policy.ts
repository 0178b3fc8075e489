import {
  compareCodePoints,
  isJsonObject,
  type JsonValue,
  parseJson,
  sortedUnique,
} from "../../../core/canonical/index.ts";
import {
  type PatchPolicy,
  patchPolicy,
  patchPolicyConfig,
  resolvePatchPolicy,
  WORKFLOW_PATCH_POLICY,
} from "../../../core/contracts/config/index.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { foldCase, isOwnName } from "../../../core/paths/index.ts";
import { coversExactly, coversFolded, listScopeRules, type Scope } from "../artifacts/scope.ts";
import { changedPaths } from "./patch-parser.ts";
import type { PatchSection } from "./patch-section.ts";
import type { PatchFinding } from "./rejection.ts";

export type { PatchPolicy };

/**
 * The contract's defaults for role-driven runs.
 *
 * @example
 * DEFAULT_POLICY.max_files; // => 5
 */
export const DEFAULT_POLICY: PatchPolicy = WORKFLOW_PATCH_POLICY;

/** What the plan of a run adds to the policy. */
export interface PlanLimits {
  readonly max_files: number;
  readonly max_total_bytes: number;
}

const FIELDS = Object.keys(patchPolicy.shape) as readonly (keyof PatchPolicy)[];
const LISTS = FIELDS.filter((key) => Array.isArray(WORKFLOW_PATCH_POLICY[key]));
const COUNTS = FIELDS.filter((key) => !LISTS.includes(key));

/**
 * A policy from a file or the configuration: given fields replace those of `base`. Malformed: PATCH_POLICY_INVALID.
 *
 * @example
 * readPolicy({ max_files: 20 }).max_files; // => 20
 * readPolicy({ max_file: 20 }); // throws PATCH_POLICY_INVALID
 */
export function readPolicy(
  value: JsonValue | undefined,
  base: PatchPolicy = DEFAULT_POLICY,
  where = "policy",
): PatchPolicy {
  if (value === undefined || value === null) return base;
  const problems: { readonly pointer: string; readonly message: string }[] = [];
  if (!isJsonObject(value)) throw policyInvalid(where, [{ pointer: "", message: "must be an object" }]);
  for (const key of Object.keys(value)) {
    if (!Object.hasOwn(patchPolicy.shape, key)) problems.push({ pointer: `/${key}`, message: "is unknown" });
  }
  for (const key of LISTS) {
    const list = value[key];
    if (list !== undefined && !(Array.isArray(list) && list.every((item) => typeof item === "string" && item !== ""))) {
      problems.push({ pointer: `/${key}`, message: "must be a list of non-empty texts" });
    }
  }
  for (const key of COUNTS) {
    const count = value[key];
    if (count !== undefined && !(Number.isSafeInteger(count) && (count as number) >= 0)) {
      problems.push({ pointer: `/${key}`, message: "must be an integer from 0 to 2^53-1" });
    }
  }
  if (problems.length > 0) throw policyInvalid(where, problems);
  return resolvePatchPolicy(patchPolicyConfig.parse(value), base);
}

/** A policy from the bytes of a file; what is not JSON is as malformed as a wrong field. */
export function parsePolicy(bytes: Uint8Array, base: PatchPolicy, file: string): PatchPolicy {
  let value: JsonValue;
  try {
    value = parseJson(bytes, { file });
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    const { message, where, code } = thrown;
    throw new VerbatimError("PATCH_POLICY_INVALID", {
      message: `${code}: ${message}`,
      where: where ?? file,
      fix: "Correct the JSON at the place shown.",
      details: { problems: [{ pointer: "", message: `${code}: ${message}` }] },
      cause: thrown,
    });
  }
  // A file that says null says nothing: it is not the request for the defaults.
  if (value === null) throw policyInvalid(file, [{ pointer: "", message: "must be an object" }]);
  return readPolicy(value, base, file);
}

function policyInvalid(where: string, problems: readonly { readonly pointer: string; readonly message: string }[]) {
  const first = problems[0]!;
  return new VerbatimError("PATCH_POLICY_INVALID", {
    message: `${first.pointer === "" ? "the policy" : first.pointer} ${first.message}`,
    where: `${where}#${first.pointer}`,
    details: { problems },
  });
}

export interface PolicyInput {
  readonly sections: readonly PatchSection[];
  readonly size: number;
  readonly policy: PatchPolicy;
  readonly scope: Scope | null;
  readonly planLimits: PlanLimits | null;
}

/** The paths of a patch: what git changes, and what a copy reads without changing it. */
export function listPaths(sections: readonly PatchSection[]): {
  readonly changed_paths: readonly string[];
  readonly read_paths: readonly string[];
} {
  const changed = new Set(sections.flatMap(changedPaths));
  const read = sections.filter(({ operation }) => operation === "copy").map(({ old_path }) => old_path);
  return { changed_paths: sortedUnique(changed), read_paths: sortedUnique(read.filter((path) => !changed.has(path))) };
}

/** Every rule of policy and scope that a parsed patch breaks, in order. */
export function findPolicyFindings({ sections, size, policy, scope, planLimits }: PolicyInput): PatchFinding[] {
  const findings: PatchFinding[] = [];
  const { changed_paths, read_paths } = listPaths(sections);
  const added = sections.reduce((sum, section) => sum + section.added, 0);
  const deny = (rule: string, path?: string) =>
    findings.push({ code: "PATCH_POLICY_DENY", rule, ...(path === undefined ? {} : { path }) });
  if (planLimits !== null && size > planLimits.max_total_bytes) deny("max_total_bytes");
  if (changed_paths.length > Math.min(policy.max_files, planLimits?.max_files ?? policy.max_files)) deny("max_files");
  if (added > policy.max_added_lines) deny("max_added_lines");
  const roots = policy.allow_roots.map(trimEntry);
  const prefixes = policy.deny_prefixes.map(trimEntry);
  const suffixes = policy.deny_suffixes.map(foldCase);
  // A folder with one of our names is a workspace of its own, so a policy that denies one at the root means every depth.
  const deniesOwn = prefixes.some((prefix) => isOwnName(prefix));
  const isDenied = (path: string) =>
    prefixes.some((prefix) => coversFolded(prefix, path)) || (deniesOwn && path.split(/[/\\]/).some(isOwnName));
  for (const path of [...changed_paths, ...read_paths].sort(compareCodePoints)) {
    if (!roots.some((root) => coversExactly(root, path))) deny("allow_roots", path);
    if (isDenied(path)) deny("deny_prefixes", path);
    if (suffixes.some((suffix) => foldCase(path).endsWith(suffix))) deny("deny_suffixes", path);
    for (const rule of scope === null ? [] : listScopeRules(scope, path)) {
      findings.push({ code: "PATCH_SCOPE_DENY", rule, path });
    }
  }
  return findings;
}

/** An entry without `./` in front and slashes behind; what is left empty is the root. */
function trimEntry(entry: string): string {
  const trimmed = entry.replace(/^(?:\.\/)+/, "").replace(/\/+$/, "");
  return trimmed === "" ? "." : trimmed;
}
