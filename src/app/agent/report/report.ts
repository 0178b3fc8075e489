import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { isJsonObject, type JsonObject, parseJson } from "../../../core/canonical/index.ts";
import { GUARD_NAMES } from "../../../core/contracts/guards.ts";
import { assertNever, type Code } from "../../../core/errors/index.ts";
import { limitsOf, type ViewOutcome } from "../../../rooms/catalytic/index.ts";
import {
  type AgentAttempt,
  type AgentGate,
  type AgentRecord,
  type AgentState,
  type Candidate,
  CONTEXT_PACK_FILE,
  describeBase,
  describeConflict,
  describeMerge,
  describeMoved,
  findFailedTail,
  type LandedFile,
  type Landing,
  mergeModels,
  type Run,
  sumUsage,
  VERIFY_REPORT_FILE,
  type VerificationReport,
} from "../../../rooms/workflow/index.ts";
import { findSigners } from "../attest/attestation.ts";
import { listUsage } from "../usage/spending.ts";
import { toNetworkPart } from "../work/connections.ts";
import type { AgentSummary } from "./agent-summary.ts";

/** What a report speaks of: the newest attempt and what the run stands for, or an earlier attempt and what it left. */
export interface Reported {
  readonly attempt: number;
  readonly candidate: number | null;
  readonly verification: number | null;
}

/** What a report about one attempt speaks of. */
export function findReported(record: AgentRecord, attempt: number): Reported {
  const { attempts, candidate, candidates, verification, verifications } = record.now;
  if (attempt === attempts) return { attempt, candidate, verification };
  const newest = (most: number, is: (n: number) => boolean) => {
    for (let n = most; n > 0; n--) if (is(n)) return n;
    return null;
  };
  const left = newest(candidates, (c) => record.candidate(c)?.attempt === attempt);
  const sha256 = left === null ? undefined : record.candidate(left)?.sha256;
  const tried = left === null ? null : newest(verifications, (v) => record.verification(v)?.candidate === sha256);
  return { attempt, candidate: left, verification: tried };
}

/** Everything a person wants to know about a run, from its own files. */
export function toSummary(record: AgentRecord, of = findReported(record, record.now.attempts)): AgentSummary {
  const { now, run } = record;
  const attempt = of.attempt === 0 ? null : record.attempt(of.attempt);
  const candidate = of.candidate === null ? null : record.candidate(of.candidate);
  const gate = of.candidate === null ? null : record.gate(of.candidate);
  const report = of.verification === null ? null : record.verification(of.verification);
  return {
    run_id: now.run_id,
    run_dir: run.folder.dir,
    goal: now.goal,
    outcome: now.state,
    code: of.attempt === now.attempts && now.repeats != null ? NO_PROGRESS : toCode(now.state, gate, report),
    reason: now.reason,
    created_at: now.created_at,
    duration_ms: now.duration_ms,
    base: { commit: now.base.commit, dirty: now.base.dirty, dirty_count: now.base.dirty_count },
    agent: {
      argv: now.request.argv,
      exit_code: attempt?.end?.code ?? null,
      duration_ms: attempt?.duration_ms ?? 0,
      commits: attempt === null ? 0 : attempt.commits,
      stdout: attempt?.proof == null ? "" : join(attempt.proof.directory, "STDOUT.log"),
      stderr: attempt?.proof == null ? "" : join(attempt.proof.directory, "STDERR.log"),
      profile: attempt?.profile?.name ?? null,
      withheld: attempt?.env?.withheld ?? [],
      hidden: attempt?.masks ?? [],
      seen: attempt?.seen ?? [],
      not_hidden: attempt?.not_hidden ?? [],
      login: attempt?.login ?? [],
      caps: attempt?.caps ?? null,
      money: attempt?.money ?? null,
    },
    proof: attempt === null ? null : toProof(attempt),
    changes: toChanges(candidate, attempt),
    gate: gate === null ? null : toGate(gate),
    verify:
      report === null
        ? toUnverified(record, gate)
        : toVerify(report, of.verification === now.verifications ? readOwnFailures(run, report) : []),
    landing: toLandingView(record),
    shown: now.shown,
    kept: now.request.keep,
    network: attempt === null ? null : toNetworkPart(attempt),
    hooks: now.hooks,
    usage: toUsed(record),
  };
}

/** What all attempts used, by model. */
function toUsed(record: AgentRecord): AgentSummary["usage"] {
  const all = listUsage(record);
  const parts = all.map((one) => one?.usage ?? null);
  const total = sumUsage(parts);
  if (total === null) return null;
  const sessions = all.reduce((sum, one) => sum + (one?.sessions.length ?? 0), 0);
  return { ...total, attempts: record.now.attempts, sessions, models: mergeModels(parts) };
}

const OVER_LIMIT: Code = "AGENT_OVER_LIMIT";
const NO_PROGRESS: Code = "NO_PROGRESS";

/** The code of an end that has one. */
function toCode(state: AgentState, gate: AgentGate | null, report: VerificationReport | null): string | null {
  if (state === "over_limit") return OVER_LIMIT;
  if (state === "rejected") return gate?.findings[0]?.code ?? null;
  return state === "verify_failed" ? (report?.code ?? null) : null;
}

function toProof({ catalytic_run, guard, proof, proof_hash }: AgentAttempt): AgentSummary["proof"] {
  if (proof === null || catalytic_run === null || guard === null) return null;
  return { catalytic_run, guard, proof_hash, ...proof };
}

function toChanges(candidate: Candidate | null, attempt: AgentAttempt | null): AgentSummary["changes"] {
  const files = (candidate?.files ?? []).map(({ path, operation, kind, added, deleted, bytes, target, old_bytes }) => ({
    path,
    operation: kind === "mode" ? ("mode" as const) : operation,
    added,
    deleted,
    kind,
    bytes,
    ...(target === undefined ? {} : { target }),
    ...(old_bytes === undefined ? {} : { old_bytes }),
    notices: (candidate?.notices ?? []).filter((notice) => notice.path === path).map(({ says }) => says),
  }));
  const sum = (side: "added" | "deleted") => files.reduce((total, file) => total + file[side], 0);
  const named = (wanted: string) => files.filter(({ kind }) => kind === wanted).map(({ path }) => path);
  return {
    files,
    added_lines: sum("added"),
    deleted_lines: sum("deleted"),
    ignored: attempt?.ignored_written ?? 0,
    binaries: named("binary"),
    links: named("link"),
    not_carried: attempt?.not_carried ?? [],
  };
}

export function toGate({ verdict, findings, permit }: AgentGate): NonNullable<AgentSummary["gate"]> {
  const [first] = findings;
  return { verdict, code: first?.code ?? null, rule: first?.rule ?? null, permit, findings };
}

/** Nobody was asked to verify the change. */
export const NOT_VERIFIED: NonNullable<AgentSummary["verify"]> = {
  result: "NONE",
  isolation: "none",
  catalytic_run: null,
  on: null,
  setup: [],
  also_fails: false,
  notices: [],
  commands: [],
  failures: [],
};

/** An accepted change that no command looked at; what the gates of the product say against it is a failure all the same. */
function toUnverified({ now }: AgentRecord, gate: AgentGate | null): AgentSummary["verify"] {
  if (gate?.verdict !== "accept" || now.request.verify.length > 0) return null;
  if (now.state !== "verify_failed") return NOT_VERIFIED;
  const message = now.reason ?? "";
  return { ...NOT_VERIFIED, result: "FAIL", failures: [{ kind: "gate", id: "VERIFY_FAILED", message }] };
}

export function toVerify(
  report: VerificationReport,
  own: NonNullable<AgentSummary["verify"]>["failures"],
): NonNullable<AgentSummary["verify"]> {
  const tail = findFailedTail(report);
  const kind = report.code === "SETUP_FAILED" ? "setup" : "command_failed";
  const said =
    report.reason === null
      ? []
      : [{ kind, id: report.code ?? "VERIFY_FAILED", message: [report.reason, ...tail].join("\n") }];
  return {
    result: report.result,
    isolation: report.catalytic_run === null ? "worktree" : "catalytic",
    catalytic_run: report.catalytic_run,
    on: describeBase(report.base, report.lacks),
    commands: report.commands.map(({ cmd, exit_code, ms }) => ({ cmd, exit_code, duration_ms: ms })),
    setup: report.setup.map(({ cmd, why, exit_code, ms }) => ({ cmd, why, exit_code, duration_ms: ms })),
    also_fails: report.baseline.some(({ exit_code }) => exit_code !== 0),
    notices: [...report.notices],
    failures: own.length > 0 ? own : said,
  };
}

/** What the gates of the product itself found, which only verify_report.json names one by one. */
function readOwnFailures(run: Run, { result }: VerificationReport): NonNullable<AgentSummary["verify"]>["failures"] {
  const bytes = result === "PASS" ? null : run.read(VERIFY_REPORT_FILE);
  const report = bytes === null ? null : parseJson(bytes);
  const failures = isJsonObject(report) ? report["failures"] : null;
  if (!Array.isArray(failures)) return [];
  return failures.filter(isJsonObject).map(({ kind, id, message }) => ({
    kind: String(kind),
    id: String(id),
    message: String(message),
  }));
}

function toLandingView(record: AgentRecord): AgentSummary["landing"] {
  const { landing: l, base } = record.now;
  const landing = l === null ? null : record.landing(l, "result");
  if (landing === null) return null;
  const made = record.landingCommit(landing.l);
  // An attempt on the newest tree has a base of its own.
  const { tree } = record.candidate(landing.candidate)?.base ?? base;
  const described = describeLanding(landing, tree, isVerified(record));
  if (made?.state !== "done") return described;
  const { commit, ref, aside, signed, hooks } = made;
  const attested = findSigners(record, commit);
  const facts = { commit, ref: ref.replace("refs/heads/", ""), aside, signed, hooks: [...hooks] };
  return { ...described, commit: attested === null ? facts : { ...facts, attested } };
}

/** What became of each file of a change, or would. */
export function describeLanding(
  landing: Landing,
  tree: string,
  verified: boolean,
): NonNullable<AgentSummary["landing"]> {
  return {
    l: landing.l,
    files: landing.files.map((file) => ({ path: file.path, how: file.how, says: describeFile(file, verified) })),
    moved: landing.onto.tree !== tree,
    since: describeMoved(landing),
    reverified: landing.onto.tree !== tree && landing.verification !== undefined,
    ...(landing.work_tree === undefined ? {} : { work_tree: landing.work_tree.root }),
  };
}

/** Whether commands passed on the candidate that the run stands for. */
function isVerified(record: AgentRecord): boolean {
  const { verification: v } = record.now;
  return v !== null && record.verification(v)?.result === "PASS";
}

function describeFile(file: LandedFile, verified: boolean): string {
  switch (file.how) {
    case "as_is":
      return verified ? "as verified" : "as the agent left it";
    case "already":
      return "already there";
    case "merged":
      return describeMerge(file);
    case "conflict":
      return `conflict: ${describeConflict(file)}`;
    default:
      return assertNever(file.how);
  }
}

/** What the proof of a view says, for people. */
export function readProof({ run, changes }: ViewOutcome, root: string): NonNullable<AgentAttempt["proof"]> {
  const directory = resolve(root, run.run_dir);
  return {
    directory,
    accepted: run.accepted,
    condition: run.condition,
    ...describeProof(readObject(join(directory, "PROOF.json"))),
    violations: run.violations.map(({ code, path }) => `${code} ${path}`),
    limits: [...limitsOf(run.guard)],
    concurrent_changes: changes.concurrent.filter((path) => !isInGit(path)),
    checked: run.compared,
  };
}

/** Whether a path is git's own: what happens there is told by where HEAD stands. */
export function isInGit(path: string): boolean {
  return path.split("/").includes(".git");
}

/** The same of a view that was put away after its tool had died; null where it has no proof. */
export function readLostProof(
  directory: string,
): (Pick<AgentAttempt, "guard" | "proof_hash"> & { readonly proof: NonNullable<AgentAttempt["proof"]> }) | null {
  const proof = readObject(join(directory, "PROOF.json"));
  const [guard, result] = [proof?.["guard"], proof?.["restoration_result"]];
  const name = isJsonObject(guard) ? GUARD_NAMES.find((one) => one === guard["name"]) : undefined;
  const [condition, hash] = [isJsonObject(result) ? result["condition"] : undefined, proof?.["proof_hash"]];
  if (proof === null || name === undefined || typeof condition !== "string" || typeof hash !== "string") return null;
  const violations = Array.isArray(proof["violations"]) ? proof["violations"].filter(isJsonObject) : [];
  return {
    guard: name,
    proof_hash: hash,
    proof: {
      directory,
      accepted: false,
      condition,
      ...describeProof(proof),
      violations: violations.map(({ code, path }) => `${String(code)} ${String(path)}`),
      limits: [...limitsOf(name)],
      concurrent_changes: [],
    },
  };
}

type ProofFacts = "launcher" | "tree_root_before" | "tree_root_after" | "hashed";

function describeProof(proof: JsonObject | null): Pick<NonNullable<AgentAttempt["proof"]>, ProofFacts> {
  const guard = proof === null ? undefined : proof["guard"];
  const tripwire = isJsonObject(guard) ? guard["tripwire"] : undefined;
  const trusted = isJsonObject(tripwire) ? tripwire["stat_only_roots"] : undefined;
  const launcher = isJsonObject(guard) ? guard["launcher"] : undefined;
  return {
    launcher: typeof launcher === "string" ? launcher : null,
    tree_root_before: readRoot(proof, "pre_state"),
    tree_root_after: readRoot(proof, "post_state"),
    hashed: Array.isArray(trusted) && trusted.includes(".") ? "what could have changed" : "everything",
  };
}

function readObject(file: string): JsonObject | null {
  const value = existsSync(file) ? parseJson(readFileSync(file)) : null;
  return isJsonObject(value) ? value : null;
}

function readRoot(proof: JsonObject | null, side: "pre_state" | "post_state"): string | null {
  const states = proof?.[side];
  const state = isJsonObject(states) ? states["."] : undefined;
  const root = isJsonObject(state) ? state["tree_root"] : undefined;
  return typeof root === "string" ? root : null;
}

/** What the agent was given to read. */
export function readShown(run: Run): AgentSummary["shown"] {
  const bytes = run.read(CONTEXT_PACK_FILE);
  const pack = bytes === null ? null : parseJson(bytes);
  const found = isJsonObject(pack) && Array.isArray(pack["files"]) ? pack["files"].filter(isJsonObject) : [];
  const files = found.map(({ path, content }) => ({ path: String(path), content: String(content) }));
  return {
    files: files.map(({ path }) => path),
    bytes: files.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0),
  };
}
