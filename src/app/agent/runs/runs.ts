import type { Caps } from "../../../core/contracts/caps.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { elapsedSince } from "../../../core/time.ts";
import type { GuardRequest } from "../../../rooms/catalytic/index.ts";
import { AgentRecord, isInTheMiddle, Run, undoAgentRun } from "../../../rooms/workflow/index.ts";
import { readCandidate } from "../capture/candidate.ts";
import { judge, warnOfPatch } from "../judge/judge.ts";
import { applyFirst, discardFirst, readFirstSummary, refuseDiscard, undoFirst } from "../landing/first-generation.ts";
import { land } from "../landing/land.ts";
import type { LandOptions } from "../landing/landable.ts";
import type { AgentPorts } from "../ports.ts";
import type { AgentSummary } from "../report/agent-summary.ts";
import { toSummary } from "../report/report.ts";
import { refuseUntrusted } from "../request/equip.ts";
import { foreseeLanding } from "../request/foresee.ts";
import { NOTHING_SHOWN } from "../request/masks.ts";
import { type NetworkPlan, requireNetwork } from "../request/network.ts";
import type { VerifyPlan } from "../request/request.ts";
import { withAgentRun } from "../request/session.ts";
import { findOwnAgentRun } from "./find-agent-run.ts";
import { requireLandedHere, requireSecond, withRunHere } from "./work-tree.ts";

/** Puts the change of a run into the tree. */
export async function applyAgentRun(
  outside: AgentPorts,
  name: string,
  options: LandOptions,
  here = false,
): Promise<AgentSummary> {
  refuseUntrusted(outside);
  return await withRunHere(outside, name, here, async (place, run) => {
    if (AgentRecord.load(run) === null) {
      requireOwnTree(place, run);
      // It lands whole and where it began, or not at all.
      if (
        options.candidate !== null ||
        options.only.length + options.except.length > 0 ||
        options.noReverify ||
        options.unverified
      )
        requireSecond(run);
      await applyFirst(place, run);
      return readFirstSummary(place, Run.load(run.ports, run.folder));
    }
    return await withAgentRun(place, run, "agent apply", (open) => land(place, open, options));
  });
}

/** Says what applying the change would do to each file. Neither the tree nor the record is written or locked. */
export async function foreseeAgentRun(
  outside: AgentPorts,
  name: string,
  options: LandOptions,
  here = false,
): Promise<AgentSummary> {
  return await withRunHere(outside, name, here, async (place, run) => {
    requireSecond(run);
    const record = AgentRecord.load(run)!;
    // What a kill left in the middle is repaired first, as by every verb.
    if (isInTheMiddle(record)) {
      return await withAgentRun(place, run, "agent apply", (open) => foreseeLanding(place, open.record, options));
    }
    requireLandedHere(place, record);
    return await foreseeLanding(place, record, options);
  });
}

/** Runs of the first generation know no other tree than their own. */
function requireOwnTree({ here }: AgentPorts, run: Run): void {
  if (here !== null) requireSecond(run);
}

/** Takes a change out of the tree again. */
export async function undoAgent(outside: AgentPorts, name: string, here = false): Promise<AgentSummary> {
  return await withRunHere(outside, name, here, async (place, run) => {
    if (AgentRecord.load(run) === null) {
      requireOwnTree(place, run);
      await undoFirst(run);
      return readFirstSummary(place, Run.load(run.ports, run.folder));
    }
    return await withAgentRun(place, run, "agent undo", async ({ session, record }) => {
      await undoAgentRun(session, record);
      return toSummary(record);
    });
  });
}

/** What is said anew about how a change is judged and verified; undefined stays as it was. */
export interface VerifyAgain {
  readonly plan?: VerifyPlan;
  readonly permit: readonly string[];
  /** Hidden files that verify commands see all the same, or all of them. */
  readonly unmask: readonly string[];
  readonly showSecrets: boolean;
  readonly limits: {
    readonly max_files?: number;
    readonly max_added_lines?: number;
    readonly max_binary_bytes?: number;
  };
  readonly network?: NetworkPlan;
  readonly caps?: Caps;
  readonly candidate?: number;
  /** In this work tree, although the run belongs to another. */
  readonly here: boolean;
}

/** Judges and verifies a change once more, with other flags. */
export async function verifyAgentRun(outside: AgentPorts, name: string, again: VerifyAgain): Promise<AgentSummary> {
  refuseUntrusted(outside);
  warnOfPatch(outside);
  return await withRunHere(outside, name, again.here, (place, run) => verifyRun(place, run, again));
}

async function verifyRun(outside: AgentPorts, run: Run, again: VerifyAgain): Promise<AgentSummary> {
  requireSecond(run);
  return await withAgentRun(outside, run, "agent verify", async ({ session, record }) => {
    const begun = outside.clock.now();
    const { now } = record;
    const c = again.candidate ?? now.candidate;
    const made = c === null ? null : readCandidate(record, c);
    if (made === null || ["applied", "discarded", "undone"].includes(now.state)) throw nothingToVerify(record, c);
    const { request } = now;
    const plan = again.plan;
    const permit = [...new Set([...request.permit, ...again.permit])];
    const limits = { ...request.limits, ...again.limits };
    const verify = plan === undefined ? {} : { verify: [...plan.commands], setup: plan.setup, baseline: plan.baseline };
    const network =
      again.network === undefined
        ? {}
        : { network: { ...again.network, hosts: again.network.hosts.map((one) => ({ ...one })) } };
    if (again.network !== undefined)
      await requireNetwork(outside, again.network, request.guard as GuardRequest | null, true);
    const caps = again.caps === undefined ? {} : { caps: { ...again.caps } };
    const { masks = NOTHING_SHOWN } = request;
    const shown = {
      ...masks,
      verify: [...new Set([...masks.verify, ...again.unmask])],
      verify_all: masks.verify_all || again.showSecrets,
    };
    record.save({ request: { ...request, ...verify, ...network, ...caps, permit, limits, masks: shown } });
    try {
      const base = { tree: made.candidate.base.tree, objects: run.objects(), commit: made.candidate.base.commit };
      await judge(outside, session, record, made, { base, ignored: null, locked: false });
    } finally {
      record.save({ duration_ms: now.duration_ms + elapsedSince(outside.clock, begun) });
    }
    return toSummary(record);
  });
}

function nothingToVerify({ run, now }: AgentRecord, c: number | null): VerbatimError {
  const words = now.state.replaceAll("_", " ");
  return new VerbatimError("RUN_ENDED", {
    message: `the run is ${words}: there is no candidate${c === null ? "" : ` ${c}`} to verify`,
    where: run.folder.dir,
    fix: `See: verbatim agent show ${run.id}`,
  });
}

const DISCARDED = "thrown away before it was applied";
const OVER: readonly AgentSummary["outcome"][] = ["applied", "unchanged", "not_started", "discarded", "undone"];

/** Throws a change away. The repository is not touched, and the record stays. */
export async function discardAgentRun(outside: AgentPorts, name: string): Promise<AgentSummary> {
  const run = await findOwnAgentRun(outside, await outside.workflow("mutate"), name);
  if (AgentRecord.load(run) === null) {
    await discardFirst(outside, run);
    return readFirstSummary(outside, Run.load(run.ports, run.folder));
  }
  return await withAgentRun(outside, run, "agent discard", async ({ session, record }) => {
    const { state } = record.now;
    if (OVER.includes(state)) throw refuseDiscard(run, state);
    await record.enter("AGENT_DISCARDED", {}, "discarded", DISCARDED);
    await session.event("operator", "RUN_ABORTED", "", { reason: DISCARDED });
    await session.bundle();
    const queued = (await outside.queue?.find(run.id)) ?? null;
    if (queued !== null) await outside.queue!.removeBranch(queued);
    return toSummary(record);
  });
}
