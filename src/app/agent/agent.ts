import { VerbatimError } from "../../core/errors/index.ts";
import type { ViewOutcome } from "../../rooms/catalytic/index.ts";
import { type AgentState, AT_WORK } from "../../rooms/workflow/index.ts";
import { describeBreak, describeFailure, describeTree } from "./agent-arguments.ts";
import { collectReports } from "./agent-hooks.ts";
import type { AgentSummary } from "./agent-summary.ts";
import type { MadeCandidate } from "./candidate.ts";
import { describeHit } from "./caps.ts";
import { captureAttempt, isTouched } from "./capture-attempt.ts";
import { judge } from "./judge.ts";
import type { AgentPorts } from "./ports.ts";
import { type Prepared, prepare } from "./prepare.ts";
import { toSummary } from "./report.ts";
import type { AgentRequest } from "./request.ts";
import type { RunControl } from "./run-control.ts";
import { type OpenAgentRun, withPreparedRun } from "./session.ts";
import { work } from "./work.ts";

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
  const begun = outside.clock.now();
  return await withPreparedRun(outside, prepared.run, async ({ session, record }) => {
    const control = outside.control.current();
    if (control !== null) onControl?.(control);
    const { view, attempt } = await work(outside, record, prepared, request);
    try {
      record.save({ hooks: await collectReports(outside, record.run) });
      const left = { changes: view.changes, isTouched: isTouched(view.run) };
      const made = await captureAttempt(outside, record, attempt, left);
      const end = findEnd(view, made);
      const captured = { attempt: attempt.n, candidate: made?.facts ?? null };
      const current = { candidate: made?.candidate.c ?? null };
      await record.enter("AGENT_CAPTURED", captured, end.state, end.reason, current);
      if (made !== null && end.state === "judging") {
        const base = { ...record.run.base, commit: record.now.base.commit };
        await judge(outside, session, record, made, { base, ignored: view.ignored, locked: false });
      }
    } catch (thrown) {
      await breakOff({ session, record }, thrown);
      throw thrown;
    } finally {
      record.save({ duration_ms: outside.clock.now() - begun });
    }
    const summary = toSummary(record);
    if (view.run.interrupted_by !== null) {
      throw new VerbatimError("INTERRUPTED", {
        message: `the agent was interrupted; ${describeTree(summary.proof)}`,
        where: record.run.folder.dir,
        ...(summary.changes.files.length === 0
          ? {}
          : {
              fix: {
                cli: `Judge what it had done: verbatim agent verify ${record.run.id}`,
                others: "Verify the run to judge what it had done.",
              },
            }),
        exit: view.run.interrupted_by === "SIGINT" ? 130 : 143,
      });
    }
    return summary;
  });
}

/** Where a run stands once its change is captured. Work that did not end well is kept and not judged by itself. */
function findEnd(
  view: ViewOutcome,
  made: MadeCandidate | null,
): { readonly state: AgentState; readonly reason: string | null } {
  if (view.caps?.hit != null) return { state: "over_limit", reason: describeHit(view.caps.hit) };
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
