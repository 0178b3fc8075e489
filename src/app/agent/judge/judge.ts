import { isVerbatimError } from "../../../core/errors/index.ts";
import {
  type AgentGate,
  type AgentRecord,
  type BaseTree,
  checkOwnGates,
  describeFinding,
  judgeCandidate,
  recordSkipped,
  recordVerification,
  resolveAgentPolicy,
  type Session,
  type SpecialFile,
  type VerificationReport,
} from "../../../rooms/workflow/index.ts";
import { findRepeated } from "../again/feedback.ts";
import type { MadeCandidate } from "../capture/candidate.ts";
import type { AgentPorts } from "../ports.ts";
import { type JudgedOn, verifyChange } from "./verify.ts";

/** For help: what is judged, class by class. */
export { listDefaultPolicy } from "../../../rooms/workflow/index.ts";

/** A verdict, with what the ledger says of it. */
export interface Gated {
  readonly gate: AgentGate;
  readonly facts: {
    readonly c: number;
    readonly candidate: string;
    readonly verdict: AgentGate["verdict"];
    readonly codes: string[];
    readonly permit: string[];
    readonly gate_sha256: string;
  };
}

/** Says that the configuration still has the policy of the first generation, and what took its place. */
export function warnOfPatch(outside: AgentPorts): void {
  const keys = Object.keys(outside.config().agent.first_patch);
  if (keys.length === 0) return;
  outside.notify(
    `agent.patch (${keys.join(", ")}) is read as it was, and its lists replace the default policy; ` +
      "agent.policy adds to it: permit, protect, secret, max_files, max_added_lines. See: verbatim agent --help policy",
  );
}

/** Policy, scope and git about a candidate. The state of the run is left to the caller. */
export async function gateCandidate(
  outside: AgentPorts,
  session: Session,
  record: AgentRecord,
  { candidate, patch }: MadeCandidate,
  base: BaseTree,
): Promise<Gated> {
  const { agent } = outside.config();
  const { permit, limits } = record.now.request;
  const { scope_allow: allow, scope_deny: deny } = session.run.plan();
  const { gate, gate_sha256 } = await judgeCandidate(session, record, {
    candidate,
    patch,
    base,
    policy: resolveAgentPolicy({ config: agent.policy, patch: agent.first_patch, permit, limits }),
    permit: [...(agent.policy.permit ?? []), ...permit],
    scope: { allow, deny },
    special: candidate.kind === "capture" ? listSpecial(record, candidate.attempt ?? 1) : [],
  });
  const codes = [...new Set(gate.findings.map(({ code }) => code))];
  const facts = {
    c: gate.c,
    candidate: gate.candidate,
    verdict: gate.verdict,
    codes,
    permit: gate.permit,
    gate_sha256,
  };
  return { gate, facts };
}

/** What the attempt left that must be refused aloud. */
function listSpecial(record: AgentRecord, n: number): SpecialFile[] {
  return (record.attempt(n)?.not_carried ?? []).flatMap(({ path, why }) =>
    why === "special_file" || why === "setuid" ? [{ path, what: why }] : [],
  );
}

/** A verification, with what the ledger says of it. */
export interface Tried {
  readonly report: VerificationReport;
  readonly facts: {
    readonly v: number;
    readonly c: number;
    readonly candidate: string;
    readonly base: { readonly kind: VerificationReport["base"]["kind"]; readonly tree: string };
    readonly report_sha256: string;
  };
}

/** The verify commands of the run on a candidate. The state of the run is left to the caller. */
export async function tryCandidate(
  outside: AgentPorts,
  session: Session,
  record: AgentRecord,
  { candidate }: MadeCandidate,
  on: JudgedOn,
): Promise<Tried> {
  outside.progress.report({ label: "verifying the change", done: 0 });
  const own = await checkOwnGates(session, candidate, on.base);
  const { verified, report_sha256 } = await recordVerification(session, record, candidate, own, (v) =>
    verifyChange(outside, session, record, candidate, { ...on, v }),
  );
  const { report } = verified;
  const { kind, tree } = report.base;
  const { state, reason } = record.now;
  if (report.setup.length > 0) {
    const commands = report.setup.map(({ cmd, exit_code }) => ({ cmd, exit_code }));
    await record.enter("AGENT_SETUP_RAN", { v: report.v, commands }, state, reason);
  }
  return {
    report,
    facts: { v: report.v, c: candidate.c, candidate: candidate.sha256, base: { kind, tree }, report_sha256 },
  };
}

export const NO_COMMAND = "you asked for --no-verify";

/** Gate and verification of the candidate that the run stands and falls with. */
export async function judge(
  outside: AgentPorts,
  session: Session,
  record: AgentRecord,
  made: MadeCandidate,
  on: JudgedOn,
): Promise<void> {
  const { c } = made.candidate;
  const { gate, facts } = await gateCandidate(outside, session, record, made, on.base);
  const current = { candidate: c, verification: null, back_to: null, repeats: null };
  if (gate.verdict === "reject") {
    const { reason, ...repeated } = describeAgain(record, c, describeRejection(gate));
    await record.enter("AGENT_GATED", facts, "rejected", reason, { ...current, ...repeated });
    return await session.bundle();
  }
  if (record.now.request.verify.length === 0) {
    const [failure] = await checkOwnGates(session, made.candidate, on.base);
    const [state, reason] =
      failure === undefined ? (["unverified", NO_COMMAND] as const) : (["verify_failed", failure.message] as const);
    await recordSkipped(session, made.candidate, failure === undefined);
    return await record.enter("AGENT_GATED", facts, state, reason, current);
  }
  await record.enter("AGENT_GATED", facts, "verifying", null, current);
  const tried = await tryCandidate(outside, session, record, made, on).catch(async (thrown: unknown) => {
    // Nobody may read afterwards that the commands still run, and the verdict stands.
    const what = isVerbatimError(thrown) ? `${thrown.code}: ${thrown.message}` : String(thrown);
    const reason = `Verbatim stopped while it verified the change: ${what}; start again with: verbatim agent verify ${session.run.id}`;
    await record.enter("AGENT_GATED", facts, "interrupted", reason);
    throw thrown;
  });
  const [kind, state] =
    tried.report.result === "PASS"
      ? (["AGENT_VERIFIED", "verified"] as const)
      : (["AGENT_VERIFY_FAILED", "verify_failed"] as const);
  const { v, reason } = tried.report;
  if (state === "verified") return await record.enter(kind, tried.facts, state, reason, { verification: v });
  const again = describeAgain(record, c, reason ?? "the verification failed");
  await record.enter(kind, tried.facts, state, again.reason, { verification: v, repeats: again.repeats });
}

/** Why a change did not pass. An attempt that repeats an earlier one says so: to start it again in the same way is idle. */
function describeAgain(record: AgentRecord, c: number, reason: string): { reason: string; repeats: number | null } {
  const repeats = findRepeated(record, c);
  if (repeats === null) return { reason, repeats };
  const n = record.candidate(c)?.attempt ?? record.now.attempts;
  return { reason: `attempt ${n} failed in the same way as attempt ${repeats}: ${reason}`, repeats };
}

/** Why a candidate was rejected, in one line. */
export function describeRejection({ findings }: AgentGate): string {
  const [first, ...more] = findings;
  const rest = more.length === 0 ? "" : ` (and ${more.length} more)`;
  return `${describeFinding(first!)}${rest}`;
}
