import { readLeftChanges, readPolicy, recoverRuns } from "../../../rooms/catalytic/index.ts";
import { type AgentAttempt, type AgentRecord, type AgentState, describeLost } from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";
import { collectReports } from "../prepare/agent-hooks.ts";
import { readLostProof } from "../report/report.ts";
import { readNetwork, recordNetwork, toAttemptNetwork } from "../request/network.ts";
import { readSpent, readSpentMicro } from "../usage/spending.ts";
import { recallNetwork } from "../work/connections.ts";
import { captureAttempt, isTouched, type Left } from "./capture-attempt.ts";

/**
 * Ends the work of an agent whose Verbatim is gone: its view is put away, and what it had changed until then becomes a
 * candidate that nobody has judged. The same when Verbatim failed, which `what` says. Says in words what was done.
 */
export async function recoverWork(
  outside: AgentPorts,
  record: AgentRecord,
  what = describeLost(record)!.what,
): Promise<string> {
  const n = Math.max(1, record.now.attempts);
  const attempt = record.attempt(n);
  const left = attempt === null ? null : await findLeft(outside, record, attempt);
  if (attempt === null || left === null) {
    const reason = `${what}; what the agent had done was not kept`;
    await endAttempt(record, n, attempt, "interrupted", reason);
    return reason;
  }
  await recordNetwork(record, left.attempt);
  if (record.now.state === "working") await endAttempt(record, n, left.attempt, "capturing", null);
  record.save({ hooks: await collectReports(outside, record.run) });
  const made = await captureAttempt(outside, record, left.attempt, left);
  const kept =
    made === null
      ? "the agent had changed nothing that can be applied"
      : `what the agent had done is kept; judge it with: verbatim agent verify ${record.run.id}`;
  const reason = `${what}; ${kept}`;
  const captured = { attempt: n, candidate: made?.facts ?? null };
  await record.enter("AGENT_CAPTURED", captured, "interrupted", reason, { candidate: made?.candidate.c ?? null });
  return reason;
}

/** What is left of a view, read by the room it belongs to; null: nobody can tell what the agent had done. */
async function findLeft(
  outside: AgentPorts,
  record: AgentRecord,
  attempt: AgentAttempt,
): Promise<(Left & { readonly attempt: AgentAttempt }) | null> {
  const { run } = record;
  const { catalytic_run: id } = attempt;
  if (id === null) return null;
  const ports = outside.catalytic();
  const { root, state, config } = outside.places();
  // Another program may have done that already; then only the record is left.
  for (const done of await recoverRuns(ports, state, { run_id: id, dry_run: false, force: false })) {
    if (done.action === "refuse" || done.action === "skip") return null;
  }
  const directory = `${root}/${readPolicy(config).policy.runs_root}/${id}`;
  const changes = readLeftChanges(ports, directory);
  if (changes === null) return null;
  // An attempt that had ended says itself how.
  const known = attempt.proof;
  if (known !== null) return { attempt, changes, isTouched: isTouched(known) };
  const found = readLostProof(directory);
  if (found === null) return null;
  const { commits } = changes;
  const ended = { ended_at: run.now(), end: { kind: "signal", code: null }, commits } as const;
  const network = toAttemptNetwork(readNetwork(outside, record.now), recallNetwork(run, attempt.n));
  return { attempt: { ...attempt, ...found, ...ended, network }, changes, isTouched: isTouched(found.proof) };
}

async function endAttempt(
  record: AgentRecord,
  n: number,
  attempt: AgentAttempt | null,
  state: AgentState,
  reason: string | null,
): Promise<void> {
  const { guard = null, catalytic_run = null, proof_hash = null } = attempt ?? {};
  const attempt_sha256 = attempt === null ? null : record.writeAttempt(attempt);
  const lost = { n, end: "lost", code: null, guard, catalytic_run, proof_hash, attempt_sha256 } as const;
  const usage = { usage: readSpent(record) };
  await record.enter("AGENT_ATTEMPT_ENDED", { ...lost, usd_micro: readSpentMicro(record) }, state, reason, usage);
}
