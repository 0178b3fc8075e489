import { formatCanonical } from "../../../core/canonical/index.ts";
import { acceptContract } from "../../../core/contracts/index.ts";
import { POLICY } from "../contracts/index.ts";
import { type JobSpec, normalizeJobSpec, parseJobSpec } from "../declare/jobspec.ts";
import { ALWAYS_FORBIDDEN, CMP01, type Policy } from "../declare/policy.ts";
import { checkPaths, findSharedAnchors } from "../declare/preflight.ts";
import type { ArtifactFiles } from "../record/artifact-files.ts";
import type { Proof } from "../record/proof.ts";
import type { Findings } from "./verify.ts";

/** POLICY.json: its shape, the roots that are always in it, and whether it is the one that was asked for. */
export function checkPolicy(
  proof: Proof,
  artifacts: ArtifactFiles,
  wanted: string | null,
  errors: Findings,
): Policy | null {
  const value = artifacts.value("POLICY.json")!;
  const policy = acceptContract(POLICY, value);
  if (policy === null) {
    errors.file("ARTIFACT_MALFORMED", "POLICY.json", "it is not a policy");
    return null;
  }
  const isFixed = policy.profile === "cmp-01";
  const always = [...ALWAYS_FORBIDDEN, ...(isFixed ? CMP01.forbidden_roots : [])];
  const fixed = isFixed
    ? { runs_root: CMP01.runs_root, durable_roots: CMP01.durable_roots, catalytic_roots: CMP01.catalytic_roots }
    : {};
  const hasFixed = Object.entries(fixed).every(([key, roots]) => same(policy[key as keyof Policy], roots));
  if (!always.every((root) => policy.forbidden_roots.includes(root)) || !hasFixed) {
    errors.file("POLICY_WEAKENED", "POLICY.json", "it lacks roots that every policy contains");
  }
  if (wanted !== null && proof.artifacts["POLICY.json"] !== wanted) {
    errors.file("POLICY_MISMATCH", "POLICY.json", "it is not the policy that was requested");
  }
  return policy;
}

/** JOBSPEC.json: normalised, and every declared path passes the rules that need no disk. */
export function checkJobSpec(
  proof: Proof,
  artifacts: ArtifactFiles,
  policy: Policy | null,
  errors: Findings,
): JobSpec | null {
  const value = artifacts.value("JOBSPEC.json")!;
  const { jobspec } = parseJobSpec(value);
  if (jobspec === null || !same(normalizeJobSpec(jobspec), value)) {
    errors.file("ARTIFACT_MALFORMED", "JOBSPEC.json", "it is not a normalised JobSpec");
    return null;
  }
  if (policy !== null) {
    const shared = findSharedAnchors(policy, jobspec.outputs.durable_paths, proof.guard.restore_method);
    const first = [...checkPaths(policy, jobspec, null).errors, ...shared][0];
    if (first !== undefined) errors.file("PREFLIGHT_VIOLATION", "JOBSPEC.json", `${first.pointer}: ${first.code}`);
  }
  return jobspec;
}

/** Whether two values have the same canonical form; a value that is not there equals only itself. */
export function same(a: unknown, b: unknown): boolean {
  if (a === undefined || b === undefined) return a === b;
  return formatCanonical(a) === formatCanonical(b);
}
