import { encodeUtf8 } from "../../../core/canonical/index.ts";
import { formatArtifact } from "../artifacts/json.ts";
import { PLAN_FILE, type Plan } from "../artifacts/plan.ts";
import {
  REPORT_PATHS,
  VERIFY_REPORT_FILE,
  type VerifyCommand,
  type VerifyFailure,
  type VerifyReport,
} from "../artifacts/verify-report.ts";
import type { Candidate } from "../contracts/candidate.ts";
import { archivePath } from "../run/record/candidates.ts";
import type { Session } from "../run/session.ts";
import { findFailedTail } from "../verification/report.ts";
import type { Verified } from "../verification/verify-candidate.ts";
import type { AgentRecord } from "./agent-record.ts";
import { markMirrored } from "./mirror-candidate.ts";

/**
 * One verification of a candidate of an agent run: runs it, writes its record, and tells the artifacts of the workflow run.
 * The state of the run is left to the caller. What fails although no command did is `failures`.
 */
export async function recordVerification(
  session: Session,
  record: AgentRecord,
  candidate: Candidate,
  failures: readonly VerifyFailure[],
  verify: (v: number) => Promise<Verified>,
): Promise<{ readonly verified: Verified; readonly report_sha256: string }> {
  const { run } = session;
  const v = record.now.verifications + 1;
  record.save({ verifications: v });
  const iteration = run.state.iterations + 1;
  run.save({ iterations: iteration, in_progress: { step: "verify", iteration, started_at: run.now() } });
  await session.event("verifier", "VERIFY_STARTED", "", { iteration, candidate_sha256: candidate.sha256 });
  let verified: Verified;
  try {
    verified = withFailures(await verify(v), failures);
  } catch (thrown) {
    run.save({ iterations: iteration - 1, in_progress: null });
    await session.event("verifier", "VERIFY_FAILED", "", { iteration, interrupted: true });
    await session.bundle();
    session.throwIfInterrupted();
    throw thrown;
  }
  const report_sha256 = await record.writeVerification(verified);
  await mirrorReport(session, candidate, iteration, verified, failures);
  return { verified, report_sha256 };
}

/** Writes down that no command was asked to verify a candidate. */
export async function recordSkipped(session: Session, candidate: Candidate, passed: boolean): Promise<void> {
  await session.event("verifier", "VERIFY_SKIPPED", "", { reason: "no_verify", candidate_sha256: candidate.sha256 });
  if (candidate.patch_sha256 === null) return;
  markMirrored(session.run, passed ? "unverified" : "verify_failed", passed ? undefined : "VERIFY_FAILED");
}

function withFailures(verified: Verified, failures: readonly VerifyFailure[]): Verified {
  const [first] = failures;
  const { report } = verified;
  if (first === undefined || report.result === "FAIL") return verified;
  return { ...verified, report: { ...report, result: "FAIL", code: "VERIFY_FAILED", reason: first.message } };
}

async function mirrorReport(
  session: Session,
  candidate: Candidate,
  iteration: number,
  verified: Verified,
  failures: readonly VerifyFailure[],
): Promise<void> {
  const { run } = session;
  const plan = run.plan();
  const report = toVerifyReport(session, candidate, plan, iteration, verified, failures);
  const written = encodeUtf8(formatArtifact(report));
  const kept = archivePath(run, VERIFY_REPORT_FILE);
  await run.folder.writeAll([
    [REPORT_PATHS.stdout_log, verified.stdout],
    [REPORT_PATHS.stderr_log, verified.stderr],
    [VERIFY_REPORT_FILE, written],
    ...(kept === null ? [] : ([[kept, written]] as const)),
  ]);
  const passed = report.result === "PASS";
  const said = passed ? {} : { failures: report.failures.length };
  await session.event("verifier", passed ? "VERIFY_PASSED" : "VERIFY_FAILED", VERIFY_REPORT_FILE, {
    iteration,
    ...said,
  });
  const over = { in_progress: null };
  if (candidate.patch_sha256 === null) run.save(over);
  else markMirrored(run, passed ? "verified" : "verify_failed", passed ? undefined : "VERIFY_FAILED", over);
  if (!passed) await session.bundle();
}

function toVerifyReport(
  { run }: Session,
  candidate: Candidate,
  plan: Plan,
  iteration: number,
  { report }: Verified,
  own: readonly VerifyFailure[],
): VerifyReport {
  const commands: VerifyCommand[] = [
    ...report.setup.map(({ cmd, exit_code, ms }) => ({ cmd, exit_code, gate: "setup", duration_ms: ms })),
    ...report.commands.map(({ cmd, exit_code, ms }) => ({ cmd, exit_code, gate: "lite", duration_ms: ms })),
  ];
  const failures: VerifyFailure[] = [...own];
  if (report.reason !== null && own.every(({ message }) => message !== report.reason)) {
    const tail = findFailedTail(report);
    const kind = report.code === "SETUP_FAILED" ? "setup" : "command_failed";
    failures.push({ kind, id: report.code ?? "VERIFY_FAILED", message: [report.reason, ...tail].join("\n") });
  }
  const passed = report.result === "PASS";
  const paths = Object.fromEntries(Object.entries(REPORT_PATHS).filter(([key]) => !passed || key !== "bundle"));
  return {
    result: passed ? "PASS" : "FAIL",
    gate: plan.gates.includes("full") ? "full" : "lite",
    iteration,
    max_iterations: Math.max(iteration, run.limits(plan).max_iterations ?? 0),
    commands,
    failures,
    paths,
    artifacts: paths,
    executed_gates: [...new Set(plan.gates)],
    // Without a text part there is no patch; what was verified is known by the candidate.
    patch_sha256: candidate.patch_sha256 ?? candidate.sha256,
    plan_sha256: run.hash(PLAN_FILE)!,
    base_commit: candidate.base.commit,
    isolation: report.catalytic_run === null ? "worktree" : "catalytic",
    ...(report.catalytic_run === null ? {} : { catalytic_run_id: report.catalytic_run }),
    started_at: report.started_at,
    finished_at: report.finished_at,
    base: report.base,
    setup: report.setup,
  };
}
