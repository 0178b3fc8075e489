import { z } from "zod";
import {
  type AgentGate,
  type AgentRecord,
  checkOwnGates,
  readHunks,
  selectChanges,
  type VerificationReport,
} from "../../../rooms/workflow/index.ts";
import { type MadeCandidate, makeCandidate } from "../capture/candidate.ts";
import { describeRejection, gateCandidate, NO_COMMAND, tryCandidate, warnOfPatch } from "../judge/judge.ts";
import { findVerification } from "../judge/verified.ts";
import type { AgentPorts } from "../ports.ts";
import { type AgentSummary, agentSummary } from "../report/agent-summary.ts";
import { NOT_VERIFIED, toGate, toVerify } from "../report/report.ts";
import { type OpenAgentRun, withAgentRun } from "../request/session.ts";
import { requireSecond, withRunHere } from "../runs/work-tree.ts";
import { type LandOptions, pickParts, requireLandable } from "./landable.ts";

/** What became of a part of a change that was judged and verified by itself. */
export interface Tried {
  readonly made: MadeCandidate;
  readonly result: "passed" | "failed" | "rejected" | "unverified";
  /** Why it did not pass, or was not verified; null: it passed. */
  readonly reason: string | null;
  readonly gate: AgentGate;
  readonly report: VerificationReport | null;
  /** Exactly this was verified before, so no command ran. */
  readonly known: boolean;
}

/** Chosen parts of a change as a candidate of their own, judged and verified; null: everything was chosen. */
export async function trySelection(
  outside: AgentPorts,
  open: OpenAgentRun,
  whole: MadeCandidate,
  options: LandOptions,
): Promise<Tried | null> {
  const { record } = open;
  const picked = pickParts(record, whole, options);
  if (picked === null) return null;
  const { candidate, patch } = whole;
  const { run, now } = record;
  const base = { tree: candidate.base.tree, objects: run.objects(), commit: candidate.base.commit };
  const { crypto, landing } = run.ports;
  const ports = { trees: landing.trees, content: await outside.content("append"), crypto };
  const hunks = patch === null ? new Map() : readHunks(patch, crypto);
  const changes = await selectChanges(ports, base, candidate, hunks, picked);
  const before = now.candidates;
  const made = await makeCandidate(outside, record, { kind: "selection", parent: candidate.c, base, changes, picked });
  const { state, reason } = now;
  if (record.now.candidates > before) {
    await record.enter("AGENT_SELECTED", { parent: candidate.c, candidate: made.facts }, state, reason);
  }
  return await tryMade(outside, open, made, true);
}

/**
 * The verdict on a candidate that is not the one the run stands for. The gate judges it by the policy of now; the commands
 * run unless exactly this was verified by them before. Where the run stands stays as it is.
 */
export async function tryMade(
  outside: AgentPorts,
  { session, record }: OpenAgentRun,
  made: MadeCandidate,
  verify: boolean,
): Promise<Tried> {
  const { candidate } = made;
  const { state, reason, request } = record.now;
  const base = { tree: candidate.base.tree, objects: record.run.objects(), commit: candidate.base.commit };
  const { gate, facts } = await gateCandidate(outside, session, record, made, base);
  await record.enter("AGENT_GATED", facts, state, reason);
  const judged = { made, gate, report: null, known: false };
  if (gate.verdict === "reject") return { ...judged, result: "rejected", reason: describeRejection(gate) };
  if (request.verify.length === 0) {
    const [failure] = await checkOwnGates(session, candidate, base);
    if (failure === undefined) return { ...judged, result: "unverified", reason: NO_COMMAND };
    return { ...judged, result: "failed", reason: failure.message };
  }
  const found = findVerification(record, candidate);
  if (found?.result === "PASS") return { ...judged, report: found, known: true, result: "passed", reason: null };
  if (!verify) return { ...judged, report: found, result: "failed", reason: found?.reason ?? "it was never verified" };
  const tried = await tryCandidate(outside, session, record, made, { base, ignored: null, locked: false });
  const passed = tried.report.result === "PASS";
  await record.enter(passed ? "AGENT_VERIFIED" : "AGENT_VERIFY_FAILED", tried.facts, state, reason);
  const { report } = tried;
  if (passed) return { ...judged, report, result: "passed", reason: null };
  return { ...judged, report, result: "failed", reason: report.reason ?? "the verification failed" };
}

export const agentSelection = z.strictObject({
  run_id: z.string(),
  candidate: z.int().describe("The number of the candidate that was made of the choice; agent.apply takes it."),
  sha256: z.string().describe("What it is known by; a verification counts for exactly this."),
  whole: z.boolean().describe("Everything was chosen: it is the candidate that the choice was made from."),
  files: z.int(),
  added: z.int(),
  deleted: z.int(),
  result: z
    .enum(["passed", "failed", "rejected", "unverified"])
    .describe("unverified: the run has no command that could verify it. Only passed and unverified can be applied."),
  reason: z.string().nullable().describe("Why it did not pass, or was not verified; null: it passed."),
  known: z.boolean().describe("Exactly this was verified before, so no command ran."),
  gate: agentSummary.shape.gate,
  verify: agentSummary.shape.verify,
});

export type AgentSelection = z.infer<typeof agentSelection>;

/** Makes a candidate of a part of a change, judges it and verifies it. The tree is not touched. */
export async function selectParts(
  outside: AgentPorts,
  name: string,
  options: LandOptions,
  here: boolean,
): Promise<AgentSelection> {
  warnOfPatch(outside);
  return await withRunHere(outside, name, here, async (place, run) => {
    requireSecond(run);
    return await withAgentRun(place, run, "agent select", async (open) => {
      const { record } = open;
      const whole = requireLandable(record, options);
      const tried = (await trySelection(place, open, whole, options)) ?? (await tryWhole(place, open, whole));
      return toSelection(record, whole, tried);
    });
  });
}

/** The whole of a change is what the run stands for, so its verdict is known. */
async function tryWhole(outside: AgentPorts, open: OpenAgentRun, made: MadeCandidate): Promise<Tried> {
  const { record } = open;
  const { state, candidate, reason } = record.now;
  const { c } = made.candidate;
  if (candidate !== c) return await tryMade(outside, open, made, true);
  const gate = record.gate(c)!;
  const report = findVerification(record, made.candidate);
  const known = { made, gate, report, known: true };
  if (gate.verdict === "reject") return { ...known, result: "rejected", reason: describeRejection(gate) };
  if (state === "unverified") return { ...known, result: "unverified", reason };
  if (state === "verified" && report?.result === "PASS") return { ...known, result: "passed", reason: null };
  return { ...known, result: "failed", reason: reason ?? "the verification failed" };
}

function toSelection({ run }: AgentRecord, whole: MadeCandidate, tried: Tried): AgentSelection {
  const { made, result, reason, known, gate, report } = tried;
  const { files, added, deleted } = made.facts;
  return {
    run_id: run.id,
    candidate: made.candidate.c,
    sha256: made.candidate.sha256,
    whole: made.candidate.c === whole.candidate.c,
    files,
    added,
    deleted,
    result,
    reason,
    known,
    gate: toGate(gate),
    verify: toVerdict(report, result),
  };
}

function toVerdict(report: VerificationReport | null, result: Tried["result"]): AgentSummary["verify"] {
  if (report !== null) return toVerify(report, []);
  return result === "unverified" ? NOT_VERIFIED : null;
}
