import { encodeUtf8, formatCanonical } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { formatArgv } from "../argv-text.ts";
import { formatArtifact } from "../artifacts/json.ts";
import { BUILT_IN_GATES, PLAN_FILE, type Plan } from "../artifacts/plan.ts";
import {
  REPORT_PATHS,
  VERIFY_REPORT_FILE,
  type VerifyCommand,
  type VerifyFailure,
  type VerifyReport,
} from "../artifacts/verify-report.ts";
import { PATCH_FILE } from "../next-step.ts";
import type { GateCommandResult, GateSession, IsolatedCopy } from "../ports.ts";
import { archive, currentCandidate, markCandidate } from "./candidates.ts";
import { childEnvironment } from "./child-environment.ts";
import { judgeRunPatch, PATCH_GATE_FILE, recordRejection, writeGateRecord } from "./gate-step.ts";
import { COPY_FOLDER } from "./recovery.ts";
import type { Session } from "./session.ts";
import { findFailureStop, toFailureSignature } from "./stop-rules.ts";
import { runBuiltInGate } from "./verify-gates.ts";

type BuiltIn = (typeof BUILT_IN_GATES)[number];

interface Collected {
  readonly commands: VerifyCommand[];
  readonly failures: VerifyFailure[];
  readonly executed: string[];
  readonly stdout: Uint8Array[];
  readonly stderr: Uint8Array[];
}

/** The step `verify`: the patch in an isolated copy, every gate of the plan, and a report. */
export async function runVerifyStep(session: Session): Promise<void> {
  const { run } = session;
  const plan = run.plan();
  const limit = run.limits(plan).max_iterations ?? 0;
  if (run.state.iterations >= limit) return await session.stop("max_iterations", "STOP_MAX_ITERATIONS");
  const { git, config } = run.ports;
  const before = await git.fingerprint();
  run.folder.remove(COPY_FOLDER);
  run.save({ in_progress: { step: "check_out", iteration: run.state.iterations, started_at: run.now() } });
  try {
    const copy = await git.checkOut(run.folder.makeFolder(COPY_FOLDER), run.base, run.state.base_commit);
    if (!(await applyInCopy(session, copy, plan))) return;
    for (const { path, how } of config.verify.share) copy.share(`${run.state.repo_root}/${path}`, path, how);
    await verifyCopy(session, copy, plan, limit, before);
  } finally {
    run.folder.remove(COPY_FOLDER);
    if (run.state.in_progress?.step === "check_out") run.save({ in_progress: null });
  }
  return;
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

async function verifyCopy(
  session: Session,
  copy: IsolatedCopy,
  plan: Plan,
  limit: number,
  before: string,
): Promise<void> {
  const { run } = session;
  const iteration = run.state.iterations + 1;
  const started_at = run.now();
  run.save({ iterations: iteration, in_progress: { step: "verify", iteration, started_at } });
  await session.event("verifier", "VERIFY_STARTED", "", { iteration, patch_sha256: run.hash(PATCH_FILE)! });
  const isolation = await run.ports.isolations.choose(run.ports.config.verify.isolation);
  const found: Collected = { commands: [], failures: [], executed: [], stdout: [], stderr: [] };
  const gates = await isolation.open(copy.root, session.signal);
  let closed: { readonly catalytic_run_id?: string };
  try {
    await runGates(session, copy, plan, gates, found);
  } finally {
    closed = await gates.close();
  }
  session.throwIfInterrupted();
  if ((await run.ports.git.fingerprint()) !== before) {
    found.failures.push({
      kind: "isolation_violation",
      id: "isolation_violation",
      message: "the real tree changed while the gates ran",
    });
  }
  const passed = found.failures.length === 0;
  const { bundle, ...always } = REPORT_PATHS;
  const paths = passed ? always : { ...always, bundle };
  const report: VerifyReport = {
    result: passed ? "PASS" : "FAIL",
    gate: plan.gates.includes("full") ? "full" : "lite",
    iteration,
    max_iterations: limit,
    commands: found.commands,
    failures: found.failures,
    paths,
    artifacts: paths,
    executed_gates: found.executed,
    patch_sha256: run.hash(PATCH_FILE)!,
    plan_sha256: run.hash(PLAN_FILE)!,
    base_commit: run.state.base_commit,
    isolation: isolation.kind,
    ...closed,
    started_at,
    finished_at: run.now(),
  };
  run.folder.write(REPORT_PATHS.stdout_log, concat(found.stdout));
  run.folder.write(REPORT_PATHS.stderr_log, concat(found.stderr));
  run.folder.write(VERIFY_REPORT_FILE, formatArtifact(report));
  archive(run, VERIFY_REPORT_FILE);
  await finish(session, report, plan, limit);
}

async function finish(session: Session, report: VerifyReport, plan: Plan, limit: number): Promise<void> {
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
  if (stop === null) await session.bundle();
  else await session.stop(stop.reason, stop.event);
}

async function runGates(
  session: Session,
  copy: IsolatedCopy,
  plan: Plan,
  gates: GateSession,
  found: Collected,
): Promise<void> {
  const { run } = session;
  const { setup } = run.ports.config.verify;
  if (setup.length > 0) await runCommands(session, gates, "setup", setup, found);
  for (const gate of new Set(plan.gates)) {
    session.throwIfInterrupted();
    const failed = found.failures.length;
    if ((BUILT_IN_GATES as readonly string[]).includes(gate)) {
      const failures = await runBuiltInGate(gate as BuiltIn, run, plan, copy, gates);
      found.failures.push(...failures);
      found.commands.push({ cmd: `verbatim:${gate}`, exit_code: failures.length === 0 ? 0 : 1, gate, duration_ms: 0 });
    } else await runConfigured(session, gates, gate, found);
    found.executed.push(gate);
    const passed = found.failures.length === failed;
    await session.event("verifier", passed ? "GATE_PASSED" : "GATE_FAILED", "", { gate });
  }
}

async function runConfigured(session: Session, gates: GateSession, gate: string, found: Collected): Promise<void> {
  const { run } = session;
  const own = gate === "lite" ? run.state.direct?.verify : null;
  const commands =
    own == null
      ? run.ports.config.verify.gates.get(gate)
      : own.map((argv) => ({ argv: [...argv], timeout_s: 1800, cwd: "." }));
  if (commands === undefined) {
    found.failures.push({ kind: "gate_missing", id: gate, message: `no commands are configured for the gate ${gate}` });
  } else if (commands.length === 0) await session.event("verifier", "GATE_EMPTY", "", { gate });
  else await runCommands(session, gates, gate, commands, found);
}

/** Inside a gate the first failing command ends the gate. */
async function runCommands(
  session: Session,
  gates: GateSession,
  gate: string,
  commands: readonly { readonly argv: readonly string[]; readonly timeout_s: number; readonly cwd: string }[],
  found: Collected,
): Promise<void> {
  const { run } = session;
  const env = childEnvironment(run.ports.env, run.ports.config.verify.env_allow, {
    VERBATIM_RUN: run.id,
    VERBATIM_GATE: gate,
  });
  for (const [index, command] of commands.entries()) {
    const result = await gates.run({ ...command, env });
    session.throwIfInterrupted();
    const cmd = formatArgv(command.argv);
    found.commands.push({ cmd, exit_code: result.exit_code, gate, duration_ms: result.duration_ms });
    const head = encodeUtf8(`$ ${cmd}\n`);
    found.stdout.push(head, result.stdout);
    found.stderr.push(head, result.stderr);
    if (result.exit_code !== 0) {
      found.failures.push(toFailure(`${gate}[${index}]`, cmd, result));
      return;
    }
  }
}

const KINDS = { exited: "command_failed", timeout: "command_timeout", not_found: "command_not_found" } as const;
const decoder = new TextDecoder();

function toFailure(id: string, cmd: string, result: GateCommandResult): VerifyFailure {
  const output = `${decoder.decode(result.stdout)}\n${decoder.decode(result.stderr)}`.trim();
  const tail = output.split("\n").slice(-20).join("\n");
  return { kind: KINDS[result.ending], id, message: `${cmd}: exit code ${result.exit_code}\n${tail}`.slice(0, 2000) };
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Lets a failed candidate be verified once more: flaky tests happen, and it uses an iteration. */
export function retryVerify(session: Session): void {
  const { run } = session;
  if (currentCandidate(run)?.state !== "verify_failed" || run.state.stop_reason !== null) {
    throw new VerbatimError("RUN_ENDED", {
      message: "only a candidate that failed verification can be verified again",
    });
  }
  markCandidate(run, "accepted");
  run.save({ status: "running" });
}
