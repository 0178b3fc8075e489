import { VerbatimError } from "../../core/errors/index.ts";
import type { ViewOutcome } from "../../rooms/catalytic/index.ts";
import type { AgentAttempt, AgentRecord, AgentState } from "../../rooms/workflow/index.ts";
import { describeBreak, describeFailure, describeTree } from "./agent-arguments.ts";
import { collectReports } from "./agent-hooks.ts";
import type { AgentSummary } from "./agent-summary.ts";
import { type MadeCandidate, makeCandidate } from "./candidate.ts";
import { captureChanges, NOTHING_CAPTURED } from "./capture.ts";
import { judge } from "./judge.ts";
import type { AgentPorts } from "./ports.ts";
import { prepare } from "./prepare.ts";
import { toSummary } from "./report.ts";
import type { AgentRequest } from "./request.ts";
import { type OpenAgentRun, withPreparedRun } from "./session.ts";
import { work } from "./work.ts";

/**
 * Runs a command as an agent under contract: a view of the whole tree, the real tree proved untouched, the change as a
 * candidate, the gate, verification. Nothing is applied here.
 */
export async function runAgent(outside: AgentPorts, request: AgentRequest): Promise<AgentSummary> {
  const begun = outside.clock.now();
  const prepared = await prepare(outside, request);
  return await withPreparedRun(prepared.run, async ({ session, record }) => {
    const { view, attempt } = await work(outside, record, prepared, request);
    try {
      record.save({ hooks: await collectReports(outside, record.run) });
      const made = await capture(outside, record, request, view, attempt);
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
        exit: view.run.interrupted_by === "SIGINT" ? 130 : 143,
      });
    }
    return summary;
  });
}

/** What the agent left, as a candidate; null: nothing that a candidate carries. */
async function capture(
  outside: AgentPorts,
  record: AgentRecord,
  { leaveOut }: AgentRequest,
  view: ViewOutcome,
  attempt: AgentAttempt,
): Promise<MadeCandidate | null> {
  const { run, now } = record;
  const { landing, crypto, repoRoot } = run.ports;
  const base = { ...run.base, commit: now.base.commit };
  // A command that reached the real tree may have written what git there would obey: nothing is asked of it.
  const isTouched = view.run.violations.length > 0 || view.run.condition.startsWith("RESTORATION_FAILED");
  const captured = isTouched
    ? NOTHING_CAPTURED
    : await captureChanges(outside.changedPaths, {
        root: repoRoot,
        changes: view.changes,
        leave_out: leaveOut,
        content: await outside.content("append"),
        crypto,
        readBase: async (path) => (await (await landing.trees.find(base, [path])).get(path)?.read()) ?? null,
      });
  const { not_carried, ignored } = captured;
  record.writeAttempt({
    ...attempt,
    ignored_written: attempt.ignored_written + ignored,
    not_carried: not_carried.map((one) => ({ ...one })),
  });
  if (captured.changes.length === 0) return null;
  return await makeCandidate(outside, record, {
    kind: "capture",
    attempt: attempt.n,
    base,
    changes: captured.changes,
  });
}

/** Where a run stands once its change is captured. Work that did not end well is kept and not judged by itself. */
function findEnd(
  view: ViewOutcome,
  made: MadeCandidate | null,
): { readonly state: AgentState; readonly reason: string | null } {
  if (!view.run.accepted) {
    const { outcome, reason } = describeFailure(view);
    return { state: outcome, reason };
  }
  return { state: made === null ? "unchanged" : "judging", reason: null };
}

/** Whatever breaks off here, nobody may read afterwards that the agent is still at work. */
async function breakOff({ record }: OpenAgentRun, thrown: unknown): Promise<void> {
  const { reason } = describeBreak(thrown, true);
  const { attempts: n } = record.now;
  const lost = { n, end: "lost", code: null, guard: null, catalytic_run: null, proof_hash: null } as const;
  await record.enter("AGENT_ATTEMPT_ENDED", { ...lost, attempt_sha256: null }, "interrupted", reason);
}
