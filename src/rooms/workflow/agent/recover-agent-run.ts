import { assertNever, VerbatimError } from "../../../core/errors/index.ts";
import { requireUncommitted, settleCommit } from "../commit/settle-commit.ts";
import { type AgentState, AT_WORK } from "../contracts/agent-run.ts";
import type { Landing } from "../contracts/landing.ts";
import { LandingRecord } from "../landing/landing-record.ts";
import { recoverLanding, undoLanding } from "../landing/recover-landing.ts";
import { closeLanding } from "../landing/write-landing.ts";
import type { Session } from "../run/session.ts";
import type { AgentRecord } from "./agent-record.ts";

/** Whether a run is in the middle of something: then its process must be there, or somebody has to repair it. */
export function isInTheMiddle({ run, now }: AgentRecord): boolean {
  if (AT_WORK.includes(now.state)) return true;
  if (now.state !== "applied" || now.landing === null) return false;
  return ["undoing", "undone"].includes(new LandingRecord(run.folder, now.landing).journal()?.state ?? "");
}

/** Killed, or ended by an error: nobody can tell afterwards. */
const ENDED = "Verbatim ended while";

/** Where a run stands whose process is gone, before somebody repairs it; null: where it says. */
export function describeLost({ run, now }: AgentRecord): {
  readonly state: AgentState;
  readonly reason: string;
  /** What happened, without what can be done about it. */
  readonly what: string;
} | null {
  const again = (what: string, rest: string, state: AgentState = "interrupted") => {
    return { state, what, reason: `${what}; ${rest}` };
  };
  switch (now.state) {
    case "preparing":
      return again(`${ENDED} it prepared the run`, "the agent did not start", "not_started");
    case "working":
      return again(`${ENDED} the agent worked`, `keep what it had done with: verbatim agent verify ${run.id}`);
    case "capturing":
      return again(`${ENDED} it read what the agent had done`, `start again with: verbatim agent verify ${run.id}`);
    case "judging":
    case "verifying":
      return again(`${ENDED} it judged the change`, `start again with: verbatim agent verify ${run.id}`);
    default:
      return null;
  }
}

/**
 * Ends the state of a run whose process is gone: what was at work is interrupted, and a landing is taken back or
 * completed. Says in words what was done. An agent that worked is left to whoever can read its view.
 */
export async function recoverAgentRun(session: Session, record: AgentRecord): Promise<string> {
  const { state, attempts } = record.now;
  if (state === "landing") return await session.withTree(() => recoverOpenLanding(session, record));
  if (state === "applied") {
    await undoAgentRun(session, record);
    return "the undo that was begun is finished";
  }
  const lost = describeLost(record);
  if (lost === null) throw new VerbatimError("INTERNAL", { message: `a run that is ${state} has nothing to recover` });
  const end = {
    n: Math.max(1, attempts),
    end: lost.state === "not_started" ? "not_started" : "lost",
    code: null,
    guard: null,
    catalytic_run: null,
    proof_hash: null,
    attempt_sha256: null,
  } as const;
  await record.enter("AGENT_ATTEMPT_ENDED", end, lost.state, lost.reason);
  return lost.reason;
}

async function recoverOpenLanding({ run }: Session, record: AgentRecord): Promise<string> {
  const { back_to, landing: l, candidate: c } = record.now;
  if (back_to === null || l === null || c === null) {
    throw new VerbatimError("RUN_CORRUPT", { message: "a landing is open, and nothing says where it began" });
  }
  const place = { folder: run.folder, l };
  const { files } = run.ports.landing;
  const { state, kept } = recoverLanding({ files, crypto: run.ports.crypto }, place);
  switch (state) {
    case "completed": {
      const commit = await settleCommit(record, l);
      await finishLanding(record, record.landing(l, "plan")!, []);
      closeLanding(place);
      return commit ?? "its landing was complete; only the record of it was missing";
    }
    case "undone":
    case "restored":
    case null: {
      const refused = { l, c, code: "INTERRUPTED", paths: [...kept] };
      const { state: before, reason, candidate, verification } = back_to;
      const back = { candidate, verification, landing: null, back_to: null };
      await record.enter("AGENT_LAND_REFUSED", refused, before, reason, back);
      const left = kept.length === 0 ? "" : `; written by somebody since and left alone: ${kept.join(", ")}`;
      return `the tree was put back to what it was before the landing${left}`;
    }
    default:
      return assertNever(state);
  }
}

const UNDONE = "applied, then undone";

/** Writes down that a change is in the tree. What was done without is said. */
export async function finishLanding(
  record: AgentRecord,
  plan: Landing,
  without: readonly ("verification" | "reverification")[],
): Promise<void> {
  const { candidate: c, verification } = record.now;
  const made = c === null ? null : record.candidate(c);
  if (c === null || made === null)
    throw new VerbatimError("RUN_CORRUPT", { message: "the landed candidate is missing" });
  const applied_at = record.run.now();
  const commit = record.landingCommit(plan.l);
  const committed = commit?.state === "done" ? { commit: commit.commit } : {};
  const result: Landing = { ...plan, ...(verification === null ? {} : { verification }), ...committed, applied_at };
  const result_sha256 = record.writeLanding(result, "result");
  const merged = plan.files.filter(({ how }) => how === "merged").length;
  const facts = { l: plan.l, c, candidate: made.sha256, files: plan.files.length, merged, verification };
  const sum = (side: "added" | "deleted") => made.files.reduce((total, file) => total + file[side], 0);
  const whole = { ...facts, added: sum("added"), deleted: sum("deleted"), without: [...without], result_sha256 };
  await record.enter("AGENT_LANDED", whole, "applied", null, { back_to: null });
}

/** Puts every file back to what it was before the change landed. ROLLBACK_CONFLICT when one was edited since. */
export async function undoAgentRun(session: Session, record: AgentRecord): Promise<string[]> {
  const { state, landing: l } = record.now;
  if (state === "undone" && l !== null) return (record.landing(l, "result")?.files ?? []).map(({ path }) => path);
  if (state !== "applied" || l === null) {
    throw new VerbatimError("RUN_NOT_PASSED", {
      message: `the run is ${state.replaceAll("_", " ")}: nothing of it is in your tree, so there is nothing to undo`,
      where: session.run.folder.dir,
    });
  }
  await requireUncommitted(record, l);
  const { landing, crypto } = session.run.ports;
  return await session.withTree(async () => {
    const place = { folder: session.run.folder, l };
    const ports = { files: landing.files, crypto };
    // One that a kill interrupted is finished; what somebody wrote since stays.
    recoverLanding(ports, place);
    const journal = new LandingRecord(place.folder, l);
    const isBack = journal.journal()?.state === "undone";
    const paths = isBack ? (journal.snapshot()?.files ?? []).map(({ path }) => path) : undoLanding(ports, place);
    await record.enter("AGENT_UNDONE", { l, paths }, "undone", UNDONE);
    await session.event("operator", "RUN_ROLLED_BACK", "", { paths });
    await session.bundle();
    return paths;
  });
}
