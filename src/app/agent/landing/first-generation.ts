import { parseJson } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { abortRun, advanceRun, PATCH_FILE, Run, rollBackRun, withSession } from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";
import { type AgentSummary, agentSummary, SUMMARY_FILE } from "../report/agent-summary.ts";
import { NOT_VERIFIED } from "../report/report.ts";
import { isFirstProcessGone } from "../work/agent-process.ts";

// Runs that were made before run.json: they are shown, applied under their own rules, undone and discarded.

/** Applies a verified change as the step of a workflow run: the tree must be what it was when the run began. */
export async function applyFirst(outside: AgentPorts, run: Run): Promise<void> {
  const summary = readFirstSummary(outside, run);
  if (summary.outcome !== "verified" && summary.outcome !== "unverified") {
    throw new VerbatimError("RUN_NOT_PASSED", {
      message: `only a change that passed its gates can be applied; this run is ${summary.outcome.replaceAll("_", " ")}`,
      where: run.folder.dir,
      fix: {
        cli: `See: verbatim agent show ${run.id}`,
        others: "Look at the run: it says why its change cannot be applied.",
      },
    });
  }
  refuseConcurrent(summary, run);
  // The step that applies locks the tree itself.
  await withSession(run.ports, run.folder, "agent apply", (session) =>
    advanceRun(session, { maxSteps: 16, apply: true, retryVerify: false }),
  );
  const now = Run.load(run.ports, run.folder);
  if (now.state.status === "pass") return;
  const blocked = now.state.blocked;
  throw new VerbatimError(blocked?.code === "REPO_MOVED" ? "REPO_MOVED" : "REPO_DIRTY", {
    message: blocked?.message ?? "your tree has changed since the agent started",
    where: run.folder.dir,
    fix: `The patch is kept: ${run.folder.dir}/${PATCH_FILE}`,
  });
}

function refuseConcurrent(summary: AgentSummary, run: Run): void {
  const paths = new Set(summary.changes.files.map(({ path }) => path));
  const both = (summary.proof?.concurrent_changes ?? []).filter((path) => paths.has(path));
  if (both.length === 0) return;
  throw new VerbatimError("REPO_DIRTY", {
    message: `the same paths changed while the agent worked, but not by it: ${both.slice(0, 20).join(", ")}`,
    where: run.folder.dir,
    details: { paths: both },
  });
}

export async function undoFirst(run: Run): Promise<void> {
  await withSession(run.ports, run.folder, "agent undo", rollBackRun);
}

export async function discardFirst(outside: AgentPorts, run: Run): Promise<void> {
  const { status, stop_reason } = run.state;
  if (status === "pass" || stop_reason !== null) throw refuseDiscard(run, readFirstSummary(outside, run).outcome);
  await withSession(run.ports, run.folder, "agent discard", (session) => abortRun(session, "discarded by its owner"));
}

/** What may still be thrown away when a run is aborted; everything else had ended before. */
const OPEN: readonly AgentSummary["outcome"][] = ["working", "verified", "unverified", "rejected", "verify_failed"];

/** Earlier versions called the reports of the agent's side receipts. */
function renameReceipts(summary: { hooks?: { receipts?: number; blocked?: number } }): object {
  const { receipts, blocked } = summary.hooks ?? {};
  return receipts === undefined
    ? summary
    : { ...summary, hooks: { reported: receipts, reported_blocked: blocked ?? 0 } };
}

/** The summary as it was written, with what happened to the run since. */
export function readFirstSummary(outside: AgentPorts, run: Run): AgentSummary {
  const written = renameOldWords(
    agentSummary.parse(renameReceipts(JSON.parse(JSON.stringify(parseJson(run.read(SUMMARY_FILE)!))))),
    run.state,
  );
  const { status, stop_reason, candidates } = run.state;
  if (status === "pass" && candidates.at(-1)?.state === "applied") return { ...written, outcome: "applied" };
  if (stop_reason === "rolled_back") return { ...written, outcome: "undone", reason: "applied, then rolled back" };
  if (stop_reason === "aborted" && OPEN.includes(written.outcome)) {
    return { ...written, outcome: "discarded", reason: "thrown away before it was applied" };
  }
  if (written.outcome === "working" && isFirstProcessGone(run, outside)) {
    return { ...written, outcome: "interrupted", reason: "Verbatim was killed while it worked on the run" };
  }
  return written;
}

/** Runs of earlier versions called a change verified that no command had looked at. */
function renameOldWords(summary: AgentSummary, { direct }: Run["state"]): AgentSummary {
  if (direct?.verify?.length !== 0 || summary.verify?.result !== "PASS") return summary;
  const outcome = summary.outcome === "verified" ? "unverified" : summary.outcome;
  return { ...summary, outcome, verify: NOT_VERIFIED };
}

/** RUN_ENDED for a run that has nothing to throw away, in the words of agent runs. */
export function refuseDiscard(run: Run, state: AgentSummary["outcome"]): VerbatimError {
  return new VerbatimError("RUN_ENDED", {
    message:
      state === "applied"
        ? "the change has been applied, so it cannot be discarded"
        : `the run is ${state.replaceAll("_", " ")}: it has nothing to apply, so there is nothing to discard`,
    where: run.folder.dir,
    fix:
      state === "applied"
        ? { cli: `Undo it: verbatim agent undo ${run.id}`, others: "Undo it instead." }
        : { cli: `See: verbatim agent show ${run.id}`, others: "Nothing needs to be done." },
  });
}
