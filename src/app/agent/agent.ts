import { VerbatimError } from "../../core/errors/index.ts";
import { elapsedSince } from "../../core/time.ts";
import type { ViewOutcome } from "../../rooms/catalytic/index.ts";
import { type AgentAttempt, type AgentState, AT_WORK } from "../../rooms/workflow/index.ts";
import { composeFeedback, NOTHING_SAID, writeFeedback } from "./again/feedback.ts";
import type { MadeCandidate } from "./capture/candidate.ts";
import { captureAttempt, isTouched } from "./capture/capture-attempt.ts";
import { judge } from "./judge/judge.ts";
import type { AgentPorts } from "./ports.ts";
import { collectReports } from "./prepare/agent-hooks.ts";
import { beginAgain } from "./prepare/begin-again.ts";
import { type Prepared, prepare } from "./prepare/prepare.ts";
import type { AgentSummary } from "./report/agent-summary.ts";
import { formatUsd } from "./report/explain-words.ts";
import { toSummary } from "./report/report.ts";
import { describeBreak, describeFailure, describeTree } from "./request/agent-arguments.ts";
import { describeHit } from "./request/caps.ts";
import type { AgentRequest } from "./request/request.ts";
import { type OpenAgentRun, withPreparedRun } from "./request/session.ts";
import { tidyUp } from "./storage/tidy.ts";
import { describeMoney, readSpent } from "./usage/spending.ts";
import type { RunControl } from "./work/run-control.ts";
import { work } from "./work/work.ts";

/**
 * Runs a command as an agent under contract: a view of the whole tree, the real tree proved untouched, the change as a
 * candidate, the gate, verification. Nothing is applied here.
 */
export async function runAgent(outside: AgentPorts, request: AgentRequest): Promise<AgentSummary> {
  return await runPrepared(outside, request, await prepare(outside, request));
}

/** The same with a run that is on disk; whoever wants to end it is told of its control. */
export async function runPrepared(
  outside: AgentPorts,
  request: AgentRequest,
  prepared: Prepared,
  onControl?: (control: RunControl) => void,
): Promise<AgentSummary> {
  return await withPreparedRun(outside, prepared.run, async (open) => {
    const control = outside.control.current();
    if (control !== null) onControl?.(control);
    // While the agent works there is time for what earlier ones left.
    const tidied = tidyUp(outside);
    try {
      return await runAttempts(outside, open, request, prepared);
    } finally {
      await tidied;
    }
  });
}

/**
 * Lets an agent work, and judges what it left. As long as that does not pass and `fix` allows it, the agent starts again
 * with its change and with what was wrong; it stops when the same happens again. Its time counts over all of that.
 */
export async function runAttempts(
  outside: AgentPorts,
  open: OpenAgentRun,
  request: AgentRequest,
  first: Prepared,
): Promise<AgentSummary> {
  const { record } = open;
  const [begun, before] = [outside.clock.now(), record.now.duration_ms];
  let prepared = first;
  let timeoutMs = request.timeoutMs;
  try {
    for (let left = request.fix; ; left--) {
      const spent = await runAttempt(outside, open, prepared, { ...request, timeoutMs });
      if (left === 0 || !canFix(open)) break;
      timeoutMs = timeoutMs === null ? null : timeoutMs - spent;
      if (timeoutMs !== null && timeoutMs <= 0) {
        outside.notify("no time is left for another attempt");
        break;
      }
      const usd = readSpent(record)?.usd ?? null;
      if (request.maxUsd !== null && usd !== null && usd >= request.maxUsd) {
        outside.notify(`no money is left for another attempt: the run has cost about ${formatUsd(usd)}`);
        break;
      }
      const text = composeFeedback(outside, record, NOTHING_SAID)!;
      const feedback = writeFeedback(record, text, []);
      outside.notify(
        `attempt ${record.now.attempts} did not pass: ${record.now.reason}; the agent is told, and starts again`,
      );
      prepared = { ...(await beginAgain(outside, record, request, first.keep, "candidate")), feedback };
    }
  } finally {
    record.save({ duration_ms: before + elapsedSince(outside.clock, begun) });
  }
  return toSummary(record);
}

function canFix({ record: { now }, session }: OpenAgentRun): boolean {
  if (session.signal.aborted) return false;
  return (now.state === "rejected" || now.state === "verify_failed") && now.repeats == null;
}

/** One attempt, and how long its command ran. INTERRUPTED. */
async function runAttempt(
  outside: AgentPorts,
  { session, record }: OpenAgentRun,
  prepared: Prepared,
  request: AgentRequest,
): Promise<number> {
  const { view, attempt } = await work(outside, record, prepared, request);
  try {
    record.save({ hooks: await collectReports(outside, record.run) });
    const left = { changes: view.changes, isTouched: isTouched(view.run) };
    const made = await captureAttempt(outside, record, attempt, left);
    const end = findEnd(view, attempt, made);
    const captured = { attempt: attempt.n, candidate: made?.facts ?? null };
    const current = { candidate: made?.candidate.c ?? null, verification: null, landing: null, repeats: null };
    await record.enter("AGENT_CAPTURED", captured, end.state, end.reason, current);
    if (made !== null && end.state === "judging") {
      const { tree, commit } = made.candidate.base;
      const base = { tree, commit, objects: record.run.objects() };
      await judge(outside, session, record, made, { base, ignored: view.ignored, locked: false });
    }
  } catch (thrown) {
    await breakOff({ session, record }, thrown);
    throw thrown;
  }
  if (view.run.interrupted_by !== null) throw interrupted(toSummary(record), view.run.interrupted_by);
  return attempt.duration_ms;
}

function interrupted(summary: AgentSummary, signal: "SIGINT" | "SIGTERM"): VerbatimError {
  const { run_id, run_dir, proof, changes } = summary;
  return new VerbatimError("INTERRUPTED", {
    message: `the agent was interrupted; ${describeTree(proof)}`,
    where: run_dir,
    fix:
      changes.files.length === 0
        ? { cli: `Let it start again: verbatim agent continue ${run_id}`, others: "Let the agent start again." }
        : {
            cli: `Let it go on: verbatim agent continue ${run_id}, or judge what it had done: verbatim agent verify ${run_id}`,
            others: "Let the agent go on, or verify the run to judge what it had done.",
          },
    exit: signal === "SIGINT" ? 130 : 143,
  });
}

/** Where a run stands once its change is captured. Work that did not end well is kept and not judged by itself. */
function findEnd(
  view: ViewOutcome,
  { money }: AgentAttempt,
  made: MadeCandidate | null,
): { readonly state: AgentState; readonly reason: string | null } {
  if (view.caps?.hit != null) return { state: "over_limit", reason: describeHit(view.caps.hit) };
  if (money !== undefined) return { state: "over_limit", reason: describeMoney(money) };
  if (!view.run.accepted) {
    const { outcome, reason } = describeFailure(view);
    return { state: outcome, reason };
  }
  return { state: made === null ? "unchanged" : "judging", reason: null };
}

/** Whatever breaks off here, nobody may read afterwards that the agent is still at work. */
async function breakOff({ record }: OpenAgentRun, thrown: unknown): Promise<void> {
  if (!AT_WORK.includes(record.now.state)) return;
  const { reason } = describeBreak(thrown, true);
  const { attempts: n } = record.now;
  const lost = { n, end: "lost", code: null, guard: null, catalytic_run: null, proof_hash: null } as const;
  await record.enter("AGENT_ATTEMPT_ENDED", { ...lost, attempt_sha256: null }, "interrupted", reason);
}
