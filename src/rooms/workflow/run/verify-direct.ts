import { sortedByCodePoint } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { findMarkers } from "../artifacts/behaviors.ts";
import { formatArtifact } from "../artifacts/json.ts";
import { PLAN_FILE, type Plan } from "../artifacts/plan.ts";
import {
  REPORT_PATHS,
  VERIFY_REPORT_FILE,
  type VerifyCommand,
  type VerifyFailure,
  type VerifyReport,
} from "../artifacts/verify-report.ts";
import { PATCH_FILE } from "../dispatch/next-step.ts";
import type { Verified } from "../verification/verify-candidate.ts";
import { archive, currentCandidate, markCandidate } from "./candidates.ts";
import { PATCH_GATE_FILE } from "./gate-record.ts";
import { recordRejection, runGateStep, writeGateRecord } from "./gate-step.ts";
import { readRepoText } from "./run.ts";
import type { Session } from "./session.ts";
import type { PostImage } from "./snapshot.ts";
import { checkReferences } from "./verify-gates.ts";
import { finishVerification } from "./verify-step.ts";

/**
 * Whether a change must be looked at as a whole tree: the repository catalogues its behaviours, or the change marks one.
 * That gate of the product reads every file.
 */
export function needsCheckout({ run }: Pick<Session, "run">, patch: Uint8Array): boolean {
  const { behaviors } = run.ports.config;
  if (readRepoText(run.ports, behaviors.index) !== null) return true;
  return findMarkers(new TextDecoder().decode(patch).replace(/^\+/gm, ""), behaviors).length > 0;
}

/**
 * The gate for a change that was taken out of a view: the patch must give exactly the files that were left there. Nothing
 * is checked out for that; whoever applies it compares every file again. True when it is accepted.
 */
export async function gateDirectChange(session: Session, post: readonly PostImage[]): Promise<boolean> {
  const { run } = session;
  const result = await runGateStep(session);
  if (result.verdict === "reject") return false;
  const left = sortedByCodePoint(post.map(({ path }) => path));
  if (JSON.stringify(sortedByCodePoint(result.changed_paths)) !== JSON.stringify(left)) {
    const mismatch = {
      verdict: "reject",
      stage: "git_check",
      code: "PATCH_GIT_MISMATCH",
      rule: "changed_paths",
      stderr: `the patch changes ${result.changed_paths.join(", ")}, and the agent left ${left.join(", ")}`,
    } as const;
    writeGateRecord(run, mismatch);
    await recordRejection(session, mismatch, run.plan());
    return false;
  }
  writeGateRecord(run, result, post);
  archive(run, PATCH_GATE_FILE);
  return true;
}

/** Writes down that nobody was asked to verify the change. */
export async function skipVerification(session: Session): Promise<void> {
  await session.event("verifier", "VERIFY_SKIPPED", PATCH_FILE, { reason: "no_verify" });
  markCandidate(session.run, "unverified");
}

/**
 * The step `verify` of a change that was taken out of a view. `verify` runs the commands where they belong; what they say
 * goes into the same report as for every other run.
 */
export async function verifyDirectChange(
  session: Session,
  verify: () => Promise<Verified>,
): Promise<{ readonly verified: Verified; readonly report: VerifyReport }> {
  const { run } = session;
  const plan = run.plan();
  if (currentCandidate(run) === undefined) {
    throw new VerbatimError("INTERNAL", { message: "there is no candidate to verify" });
  }
  const iteration = run.state.iterations + 1;
  run.save({ iterations: iteration, in_progress: { step: "verify", iteration, started_at: run.now() } });
  await session.event("verifier", "VERIFY_STARTED", "", { iteration, patch_sha256: run.hash(PATCH_FILE)! });
  let verified: Verified;
  try {
    verified = await verify();
  } catch (thrown) {
    run.save({ iterations: iteration - 1, in_progress: null });
    session.throwIfInterrupted();
    throw thrown;
  }
  const report = toVerifyReport(session, plan, iteration, verified);
  run.folder.write(REPORT_PATHS.stdout_log, verified.stdout);
  run.folder.write(REPORT_PATHS.stderr_log, verified.stderr);
  run.folder.write(VERIFY_REPORT_FILE, formatArtifact(report));
  archive(run, VERIFY_REPORT_FILE);
  await finishVerification(session, report, plan, Math.max(iteration, run.limits(plan).max_iterations ?? 0));
  return { verified, report };
}

function toVerifyReport({ run }: Session, plan: Plan, iteration: number, { report }: Verified): VerifyReport {
  const commands: VerifyCommand[] = [
    ...report.setup.map(({ cmd, exit_code, ms }) => ({ cmd, exit_code, gate: "setup", duration_ms: ms })),
    ...report.commands.map(({ cmd, exit_code, ms }) => ({ cmd, exit_code, gate: "lite", duration_ms: ms })),
  ];
  const failures: VerifyFailure[] = checkReferences(run);
  if (report.reason !== null) {
    const tail = report.commands.find(({ reason }) => reason !== null)?.tail ?? [];
    const kind = report.code === "SETUP_FAILED" ? "setup" : "command_failed";
    failures.push({ kind, id: report.code ?? "VERIFY_FAILED", message: [report.reason, ...tail].join("\n") });
  }
  const passed = failures.length === 0;
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
    patch_sha256: run.hash(PATCH_FILE)!,
    plan_sha256: run.hash(PLAN_FILE)!,
    base_commit: run.state.base_commit,
    isolation: report.catalytic_run === null ? "worktree" : "catalytic",
    ...(report.catalytic_run === null ? {} : { catalytic_run_id: report.catalytic_run }),
    started_at: report.started_at,
    finished_at: report.finished_at,
    base: report.base,
    setup: report.setup,
  };
}
