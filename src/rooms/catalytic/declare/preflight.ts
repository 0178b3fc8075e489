import { sortedUnique } from "../../../core/canonical/index.ts";
import type { RestoreMethod } from "../../../core/contracts/guards.ts";
import { foldName, foldPath, isUnder, overlaps } from "../../../core/paths/index.ts";
import type { PathLook } from "../ports.ts";
import { anchorOf } from "../run/places.ts";
import { normalizeOutput } from "./jobspec.ts";
import {
  belowFolded,
  containsOrInside,
  findLexicalCode,
  hasGitComponent,
  isArtifactPlace,
  isInside,
  normalizeOrRoot,
  normalizePath,
} from "./path-rules.ts";
import type { PointedError, Policy } from "./policy.ts";

/** The parts of a JobSpec that preflight looks at, as they were given. */
export interface DeclaredPaths {
  readonly run_id: string;
  readonly catalytic_domains: readonly string[];
  readonly durable_output_roots: readonly string[];
  readonly outputs: { readonly durable_paths: readonly string[] };
  readonly inputs?: readonly string[];
  readonly cwd?: string;
  readonly view?: boolean;
}

interface PreflightVerdict {
  readonly ok: boolean;
  readonly errors: readonly PointedError[];
  readonly normalized: {
    readonly catalytic_domains: readonly string[];
    readonly durable_output_roots: readonly string[];
    readonly durable_paths: readonly string[];
  } | null;
}

type Role = "domain" | "root" | "output";

/**
 * Judges every declared path (CMP-01, enforcement layer 1): the first rule each breaks, all paths reported. Without a
 * disk only the rules that need none are applied.
 *
 * @example
 * const { policy } = effectivePolicy({});
 * const declared = {
 *   run_id: "r1",
 *   catalytic_domains: [".git"],
 *   durable_output_roots: [],
 *   outputs: { durable_paths: [] },
 * };
 * if (policy !== null) checkPaths(policy, declared, null).ok; // => false
 */
export function checkPaths(policy: Policy, declared: DeclaredPaths, disk: PathLook | null): PreflightVerdict {
  const errors: PointedError[] = [];
  const runs = disk?.runNames(policy.runs_root) ?? [];
  const context: Context = { policy, disk, reserved: new Set([declared.run_id, ...runs].map(foldName)) };
  if (runs.includes(declared.run_id)) errors.push({ code: "RUN_ID_EXISTS", pointer: "/run_id" });
  if (declared.view === true) {
    const { catalytic_domains: domains, outputs } = declared;
    if (domains.length !== 1 || domains[0] !== ".")
      errors.push({ code: "VIEW_DOMAIN_INVALID", pointer: "/catalytic_domains" });
    if (outputs.durable_paths.length > 0) errors.push({ code: "VIEW_HAS_OUTPUTS", pointer: "/outputs/durable_paths" });
  } else
    checkList(declared.catalytic_domains, "/catalytic_domains", (path) => judge(path, "domain", context, []), errors);
  const passed: string[] = [];
  checkList(
    declared.durable_output_roots,
    "/durable_output_roots",
    (path) => judge(path, "root", context, []),
    errors,
    passed,
  );
  checkList(
    declared.outputs.durable_paths,
    "/outputs/durable_paths",
    (path) => judge(path, "output", context, passed),
    errors,
  );
  for (const [i, path] of (declared.inputs ?? []).entries()) {
    const code = judgeReadable(path, disk, "INPUT_MISSING");
    if (code !== null) errors.push({ code, pointer: `/inputs/${i}` });
  }
  const cwd = judgeReadable(declared.cwd ?? ".", disk, "CWD_MISSING");
  if (cwd !== null) errors.push({ code: cwd, pointer: "/cwd" });
  if (errors.length > 0) return { ok: false, errors, normalized: null };
  return {
    ok: true,
    errors,
    normalized: {
      catalytic_domains: sortedUnique(declared.catalytic_domains.map(normalizeOrRoot)),
      durable_output_roots: sortedUnique(declared.durable_output_roots.map(normalizeOrRoot)),
      durable_paths: sortedUnique(declared.outputs.durable_paths.map(normalizeOutput)),
    },
  };
}

interface Context {
  readonly policy: Policy;
  readonly disk: PathLook | null;
  /** Folded names below the runs root that belong to runs. */
  readonly reserved: ReadonlySet<string>;
}

/** Judges a list and reports overlaps among the paths that are fine by themselves; those are added to `passed`. */
function checkList(
  paths: readonly string[],
  pointer: string,
  rule: (path: string) => string | null,
  errors: PointedError[],
  passed: string[] = [],
): void {
  const fine: { readonly path: string; readonly at: string }[] = [];
  for (const [i, given] of paths.entries()) {
    const at = `${pointer}/${i}`;
    const code = rule(given);
    if (code !== null) {
      errors.push({ code, pointer: at });
      continue;
    }
    const path = normalizePath(given);
    const other = fine.find((one) => containsOrInside(one.path, path));
    if (other !== undefined) errors.push({ code: "PATH_OVERLAP", pointer: at, with: other.at });
    fine.push({ path, at });
    passed.push(path);
  }
}

/** The code of the first rule a declared path breaks, or null. */
function judge(given: string, role: Role, context: Context, declaredRoots: readonly string[]): string | null {
  const lexical = findLexicalCode(given);
  if (lexical !== null) return lexical;
  const path = normalizePath(given);
  const { policy, disk } = context;
  if (isForbidden(path, policy)) return "FORBIDDEN_PATH_OVERLAP";
  if (isReserved(path, role, context)) return "RESERVED_PATH_OVERLAP";
  const inCatalytic = policy.catalytic_roots.some((root) => isInside(path, root));
  if (role === "domain") {
    if (!inCatalytic) return "CATALYTIC_OUTSIDE_ROOT";
  } else {
    if (!policy.durable_roots.some((root) => isInside(path, root))) return "OUTPUT_OUTSIDE_DURABLE_ROOT";
    if (role === "output" && !declaredRoots.some((root) => isInside(path, root))) return "OUTPUT_OUTSIDE_DECLARED_ROOT";
    const overlap = role === "root" ? inCatalytic : policy.catalytic_roots.some((root) => containsOrInside(path, root));
    if (overlap) return "OUTPUT_IN_CATALYTIC_ROOT";
  }
  return disk === null ? null : judgeOnDisk(path, role, policy, disk);
}

/** Whether a normalised path touches what is never written (rule 7); also for the targets of links. */
export function isForbidden(path: string, policy: Policy): boolean {
  if (path === "" || hasGitComponent(path)) return true;
  const folded = foldPath(path);
  return policy.forbidden_roots.some((root) => {
    if (!overlaps(folded, foldPath(root))) return false;
    return root !== ".verbatim" || !isConfigured(path, policy);
  });
}

function isConfigured(path: string, policy: Policy): boolean {
  return [policy.runs_root, ...policy.durable_roots, ...policy.catalytic_roots].some((root) => isInside(path, root));
}

function isReserved(path: string, role: Role, { policy, reserved }: Context): boolean {
  const runs = foldPath(policy.runs_root);
  const folded = foldPath(path);
  if (isUnder(runs, folded)) return !(role === "root" && folded === runs);
  const below = belowFolded(path, policy.runs_root);
  if (below === null) return false;
  return reserved.has(below.split("/", 1)[0]!) || isArtifactPlace(path, policy.runs_root);
}

/**
 * Outputs whose folder holds the runs. A guard that lets the command write that folder in place cannot keep it from the
 * records of other runs; one that gives it a layer instead can.
 */
export function findSharedAnchors(policy: Policy, outputs: readonly string[], method: RestoreMethod): PointedError[] {
  if (method !== "swap-back") return [];
  return outputs.flatMap((given, i) => {
    const isShared = isInside(policy.runs_root, anchorOf(normalizeOutput(given)));
    return isShared ? [{ code: "RESERVED_PATH_OVERLAP", pointer: `/outputs/durable_paths/${i}` }] : [];
  });
}

/** Walks the part that exists, component by component; links are never followed into a declared path. */
function judgeOnDisk(path: string, role: Role, policy: Policy, disk: PathLook): string | null {
  const components = path.split("/");
  for (let depth = 1; depth <= components.length; depth++) {
    const place = components.slice(0, depth).join("/");
    const kind = disk.kind(place);
    if (kind === null) return null;
    if (kind === "symlink") {
      const { inside } = disk.realPlace(place);
      if (inside === null) return "PATH_ESCAPES_REPO_ROOT";
      return isForbidden(inside, policy) ? "FORBIDDEN_PATH_OVERLAP" : "PATH_THROUGH_SYMLINK";
    }
    const last = depth === components.length;
    if (kind !== "dir" && (!last || role !== "output")) return "PATH_NOT_A_DIRECTORY";
  }
  return null;
}

function judgeReadable(given: string, disk: PathLook | null, missing: string): string | null {
  const lexical = findLexicalCode(given);
  if (lexical !== null) return lexical;
  if (disk === null) return null;
  const path = normalizePath(given);
  const { inside, exists } = disk.realPlace(path);
  if (inside === null) return "PATH_ESCAPES_REPO_ROOT";
  if (!exists) return missing;
  return missing === "CWD_MISSING" && inside !== "" && disk.kind(inside) !== "dir" ? missing : null;
}
