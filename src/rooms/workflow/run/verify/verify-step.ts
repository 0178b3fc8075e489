import { formatCanonical } from "../../../../core/canonical/index.ts";
import { VerbatimError } from "../../../../core/errors/index.ts";
import { formatArtifact } from "../../artifacts/json.ts";
import { PLAN_FILE, type Plan } from "../../artifacts/plan.ts";
import {
  REPORT_PATHS,
  VERIFY_REPORT_FILE,
  type VerifyFailure,
  type VerifyReport,
} from "../../artifacts/verify-report.ts";
import { PATCH_FILE } from "../../dispatch/next-step.ts";
import type { IsolatedCopy, Isolation } from "../../ports.ts";
import { PATCH_GATE_FILE } from "../gate/gate-record.ts";
import { judgeRunPatch, recordRejection, writeGateRecord } from "../gate/gate-step.ts";
import { archive, currentCandidate, markCandidate } from "../record/candidates.ts";
import { bundleFailure } from "../record/failure-bundle.ts";
import { COPY_FOLDER } from "../recovery.ts";
import type { Run } from "../run.ts";
import type { Session } from "../session.ts";
import { findFailureStop, toFailureSignature } from "../stop-rules.ts";
import { runBuiltInGate } from "./verify-gates.ts";
import { chooseIsolation, runGates } from "./verify-run.ts";
import { findCommands, isBuiltInGate } from "./verify-script.ts";

/** The step `verify`: the patch in an isolated copy, every gate of the plan, and a report. */
export async function runVerifyStep(session: Session): Promise<void> {
  const { run } = session;
  const plan = run.plan();
  const limit = run.limits(plan).max_iterations ?? 0;
  if (run.state.iterations >= limit) return await session.stop("max_iterations", "STOP_MAX_ITERATIONS");
  const { git, config } = run.ports;
  // Chosen before an iteration is used: an isolation that was asked for and does not work here ends the step.
  const isolation = await chooseIsolation(session, plan);
  const before = await git.fingerprint(isUnguarded(isolation));
  run.folder.remove(COPY_FOLDER);
  run.save({ in_progress: { step: "check_out", iteration: run.state.iterations, started_at: run.now() } });
  try {
    const copy = await git.checkOut(run.folder.makeFolder(COPY_FOLDER), run.base, run.state.base_commit);
    if (!(await applyInCopy(session, copy, plan))) return;
    if (await isLeftUnverified(run, plan, copy)) {
      await session.event("verifier", "VERIFY_SKIPPED", PATCH_FILE, { reason: "no_verify" });
      return markCandidate(run, "unverified");
    }
    for (const { path, how } of config.verify.share) copy.share(`${run.ports.repoRoot}/${path}`, path, how);
    await verifyCopy(session, { copy, plan, limit, before, isolation });
  } finally {
    run.folder.remove(COPY_FOLDER);
    if (run.state.in_progress?.step === "check_out") run.save({ in_progress: null });
  }
  return;
}

/** With --no-verify nothing runs, so nothing passes. What the product judges itself still holds. */
async function isLeftUnverified(run: Run, plan: Plan, copy: IsolatedCopy): Promise<boolean> {
  const hasCommands = plan.gates.some((gate) => !isBuiltInGate(gate) && findCommands(run, gate)?.length !== 0);
  if (run.state.direct?.verify?.length !== 0 || hasCommands) return false;
  for (const gate of new Set(plan.gates.filter(isBuiltInGate))) {
    if ((await runBuiltInGate(gate, run, plan, copy, [])).length > 0) return false;
  }
  return true;
}

/** Applies the patch in the copy and holds what changed against what the gate declared. */
async function applyInCopy(session: Session, copy: IsolatedCopy, plan: Plan): Promise<boolean> {
  const { run } = session;
  const patch = run.read(PATCH_FILE)!;
  const result = await judgeRunPatch(run, patch, plan);
  if (result.verdict === "reject") {
    await recordRejection(session, result, plan);
    return false;
  }
  const { code, stderr } = await copy.apply(patch);
  const changes = code === 0 ? await copy.changes() : [];
  const declared = JSON.stringify(result.changed_paths);
  const exact = code === 0 && JSON.stringify(changes.map(({ path }) => path)) === declared;
  const plain = changes.every(({ mode }) => mode === null || mode === "100644" || mode === "100755");
  if (exact && plain) {
    writeGateRecord(run, result, changes);
    archive(run, PATCH_GATE_FILE);
    return true;
  }
  const why = code === 0 ? `changed ${changes.map(({ path }) => path).join(", ")}` : stderr.trim();
  const rejection = {
    verdict: "reject",
    stage: "git_check",
    code: "PATCH_GIT_MISMATCH",
    rule: "changed_paths",
    stderr: why,
  } as const;
  writeGateRecord(run, rejection);
  await recordRejection(session, rejection, plan);
  return false;
}

interface Verification {
  readonly copy: IsolatedCopy;
  readonly plan: Plan;
  readonly limit: number;
  /** State of the real tree before anything ran. */
  readonly before: string;
  readonly isolation: Isolation;
}

async function verifyCopy(session: Session, verification: Verification): Promise<void> {
  const { copy, plan, limit, isolation } = verification;
  const { run } = session;
  const iteration = run.state.iterations + 1;
  const started_at = run.now();
  run.save({ iterations: iteration, in_progress: { step: "verify", iteration, started_at } });
  await session.event("verifier", "VERIFY_STARTED", "", { iteration, patch_sha256: run.hash(PATCH_FILE)! });
  const { stdout, stderr, commands, executed, ...found } = await runGates(session, isolation, copy, plan);
  const failures = [...found.failures, ...(await findViolation(session, verification))];
  const passed = failures.length === 0;
  const paths = Object.fromEntries(Object.entries(REPORT_PATHS).filter(([key]) => !passed || key !== "bundle"));
  const report: VerifyReport = {
    result: passed ? "PASS" : "FAIL",
    gate: plan.gates.includes("full") ? "full" : "lite",
    iteration,
    max_iterations: limit,
    commands,
    failures,
    paths,
    artifacts: paths,
    executed_gates: executed,
    patch_sha256: run.hash(PATCH_FILE)!,
    plan_sha256: run.hash(PLAN_FILE)!,
    base_commit: run.state.base_commit,
    isolation: isolation.kind,
    ...(found.catalytic_run_id === undefined ? {} : { catalytic_run_id: found.catalytic_run_id }),
    started_at,
    finished_at: run.now(),
  };
  run.folder.write(REPORT_PATHS.stdout_log, stdout);
  run.folder.write(REPORT_PATHS.stderr_log, stderr);
  run.folder.write(VERIFY_REPORT_FILE, formatArtifact(report));
  archive(run, VERIFY_REPORT_FILE);
  await finishVerification(session, report, plan, limit);
}

/** Plain processes could have written anywhere, so more is looked at. */
function isUnguarded({ kind }: Isolation): boolean {
  return kind === "worktree";
}

/** Whatever the isolation promised: the real tree is looked at. */
async function findViolation(
  session: Session,
  { before, isolation }: Pick<Verification, "before" | "isolation">,
): Promise<VerifyFailure[]> {
  if ((await session.run.ports.git.fingerprint(isUnguarded(isolation))) === before) return [];
  const message = "the real tree changed while the gates ran";
  return [{ kind: "isolation_violation", id: "isolation_violation", message }];
}

/** Marks the candidate by its report; a failure goes to the fixer, or ends the run. */
async function finishVerification(session: Session, report: VerifyReport, plan: Plan, limit: number): Promise<void> {
  const { run } = session;
  const { iteration } = report;
  if (report.result === "PASS") {
    await session.event("verifier", "VERIFY_PASSED", VERIFY_REPORT_FILE, { iteration });
    markCandidate(run, "verified");
    run.save({ in_progress: null });
    return;
  }
  await session.event("verifier", "VERIFY_FAILED", VERIFY_REPORT_FILE, { iteration, failures: report.failures.length });
  markCandidate(run, "verify_failed", "VERIFY_FAILED");
  const failure = run.ports.crypto.sha256(formatCanonical(toFailureSignature(report)));
  run.save({ in_progress: null, status: "fail", failures: [...(run.state.failures ?? []), failure] });
  const stop = findFailureStop(run.state, plan, limit);
  if (stop === null) await bundleFailure(session);
  else await session.stop(stop.reason, stop.event);
}

/** Lets a failed candidate be verified once more: flaky tests happen, and it uses an iteration. */
export function retryVerify(session: Session): void {
  const { run } = session;
  if (currentCandidate(run)?.state !== "verify_failed" || run.state.stop_reason !== null) {
    throw new VerbatimError("RUN_ENDED", {
      message: "only a candidate that failed verification can be verified again",
      fix: { cli: "See where the run stands: verbatim workflow status", others: "Look at where the run stands." },
    });
  }
  markCandidate(run, "accepted");
  run.save({ status: "running" });
}
