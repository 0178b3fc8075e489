import { sortedByCodePoint } from "../../../core/canonical/index.ts";
import { readHunks } from "../candidate/hunks.ts";
import type { AgentGate, GateFinding } from "../contracts/agent-run.ts";
import type { Candidate } from "../contracts/candidate.ts";
import { formatArgv } from "../dispatch/argv-template.ts";
import { PATCH_FILE } from "../dispatch/next-step.ts";
import { judgePatchWithGit } from "../patch/git-stage.ts";
import type { PatchResult } from "../patch/patch-gate.ts";
import { adviseFor, formatPatchReview, REVIEW_PATCH_FILE } from "../patch/patch-review.ts";
import { listRefusals, PatchRefused, type PatchRejection } from "../patch/rejection.ts";
import { listAddedLines } from "../policy/added-lines.ts";
import type { AgentPolicy } from "../policy/agent-policy.ts";
import { type AddedLine, judgeChange, type PolicyFinding, type SpecialFile } from "../policy/judge-change.ts";
import type { BaseTree } from "../ports.ts";
import type { Run } from "../run/run.ts";
import type { Session } from "../run/session.ts";
import type { AgentRecord } from "./agent-record.ts";
import { markMirrored, mirrorGate, mirrorPatch } from "./mirror-candidate.ts";

export interface JudgeRequest {
  readonly candidate: Candidate;
  readonly patch: Uint8Array | null;
  /** The tree of the candidate's base, with the folder of objects that the repository itself does not have. */
  readonly base: BaseTree;
  readonly policy: AgentPolicy;
  readonly permit: readonly string[];
  readonly scope: { readonly allow: readonly string[]; readonly deny: readonly string[] };
  readonly special: readonly SpecialFile[];
}

/**
 * The verdict on a candidate: policy and scope about every file, the patch gate of the room about the text part. Writes
 * gate.json and what mirrors it, and leaves the state of the run to the caller.
 */
export async function judgeCandidate(session: Session, record: AgentRecord, request: JudgeRequest) {
  const { run } = session;
  const { candidate, patch } = request;
  const result = patch === null ? null : await judgeText(run, request, patch);
  const policy = judgeChange({
    files: candidate.files,
    added: patch === null ? new Map() : readAdded(run, patch),
    special: request.special,
    scope: request.scope,
    policy: request.policy,
  });
  const findings = [
    ...policy.map(toFinding),
    ...(result?.verdict === "reject" ? listRefusals(result).map((one) => toTextFinding(one, result)) : []),
  ];
  const gate: AgentGate = {
    schema_version: "verbatim-agent-gate-v1",
    c: candidate.c,
    candidate: candidate.sha256,
    verdict: findings.length === 0 ? "accept" : "reject",
    findings: dropTwice(findings),
    permit: [...request.permit],
    judged_at: run.now(),
  };
  await mirrorPatch(session, patch);
  if (result !== null) mirrorGate(run, candidate, result.verdict === "reject" ? result : withPolicy(result, policy));
  const gate_sha256 = record.writeGate(gate);
  if (patch !== null) {
    const [first] = gate.findings;
    markMirrored(run, first === undefined ? "accepted" : "rejected", first?.code);
    const sha256 = candidate.patch_sha256!;
    if (first === undefined) {
      await session.event("orchestrator", "PATCH_ACCEPTED", PATCH_FILE, { sha256, files: candidate.files.length });
    } else {
      run.folder.write(REVIEW_PATCH_FILE, formatPatchReview(toRejection(gate), patch, sha256));
      await session.event("orchestrator", "PATCH_REJECTED", PATCH_FILE, { sha256, code: first.code, rule: first.rule });
    }
  }
  return { gate, gate_sha256 };
}

/** The text part under a policy that forbids nothing: what may change is decided by the agent policy alone. */
async function judgeText(run: Run, { base, candidate }: JudgeRequest, patch: Uint8Array): Promise<PatchResult> {
  const gate = {
    patch,
    policy: run.state.policy,
    scope: null,
    planLimits: null,
    platform: run.ports.platform,
  };
  const result = await judgePatchWithGit(gate, run.ports.git, base);
  if (result.verdict === "reject") return result;
  const text = candidate.files.filter(({ kind, hunks }) => kind === "text" || hunks !== undefined);
  const left = sortedByCodePoint(new Set(text.map(({ path }) => path)));
  if (JSON.stringify(sortedByCodePoint(result.changed_paths)) === JSON.stringify(left)) return result;
  return {
    verdict: "reject",
    stage: "git_check",
    code: "PATCH_GIT_MISMATCH",
    rule: "changed_paths",
    stderr: `the patch changes ${result.changed_paths.join(", ")}, and the agent left ${left.join(", ")}`,
  };
}

/** A patch that cannot be read is refused by the gate, which says why. */
function readAdded(run: Run, patch: Uint8Array): ReadonlyMap<string, readonly AddedLine[]> {
  try {
    return listAddedLines(readHunks(patch, run.ports.crypto));
  } catch (thrown) {
    if (thrown instanceof PatchRefused) return new Map();
    throw thrown;
  }
}

function toFinding({ code, rule, path, line, says, flag, fix }: PolicyFinding): GateFinding {
  return { code, rule, path: path ?? null, line: line ?? null, says, flag, fix };
}

function toTextFinding(
  { code, rule, path }: ReturnType<typeof listRefusals>[number],
  { stderr }: PatchRejection,
): GateFinding {
  const what = stderr === undefined || stderr.trim() === "" ? rule.replaceAll("_", " ") : stderr.trim().split("\n")[0]!;
  const says =
    path === undefined ? `the change cannot be a patch: ${what}` : `${path} cannot be part of a patch: ${what}`;
  const leave = path === undefined ? "" : ` Leave it out: --leave-out ${formatArgv([path])}`;
  return { code, rule, path: path ?? null, line: null, says, flag: null, fix: `${adviseFor(rule)}${leave}` };
}

/** What policy and gate both say about a name is said once. */
function dropTwice(findings: readonly GateFinding[]): GateFinding[] {
  const never = new Set(findings.filter(({ code }) => code === "POLICY_NEVER").map(({ path }) => path));
  return findings.filter(({ code, path }) => !(code.startsWith("PATCH_PATH") && never.has(path)));
}

/** What tools that know the patch gate alone are told about a change that the policy refuses. */
function withPolicy(result: PatchResult, policy: readonly PolicyFinding[]): PatchResult {
  const [first] = policy;
  if (first === undefined) return result;
  const findings = policy.map(({ code, rule, path }) => ({ code, rule, ...(path === undefined ? {} : { path }) }));
  const stage = first.code === "PATCH_SCOPE_DENY" ? "scope" : "policy";
  return { verdict: "reject", stage, ...findings[0]!, findings };
}

function toRejection({ findings }: AgentGate): PatchRejection {
  const all = findings.map(({ code, rule, path }) => ({ code, rule, ...(path === null ? {} : { path }) }));
  return { verdict: "reject", stage: "policy", ...all[0]!, findings: all };
}
