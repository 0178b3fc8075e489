import { compareCodePoints, parseJson } from "../../core/canonical/index.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import { abortRun, advanceRun, PATCH_FILE, Run, requireOwn, withSession } from "../../rooms/workflow/index.ts";
import { isProcessGone } from "./agent-process.ts";
import { NOT_VERIFIED } from "./agent-result.ts";
import { type AgentSummary, agentSummary, CAPTURED_FILE, SUMMARY_FILE } from "./agent-summary.ts";
import { findAgentRun } from "./find-agent-run.ts";
import type { AgentPorts } from "./ports.ts";

/** The summaries of all agent runs of this repository, newest first. */
export async function listAgentRuns(outside: AgentPorts): Promise<AgentSummary[]> {
  const ports = await outside.workflow("read");
  const summaries = ports.runs.ids().flatMap((id) => {
    const run = Run.load(ports, ports.runs.open(id)!);
    return run.read(SUMMARY_FILE) === null ? [] : [readSummary(outside, run)];
  });
  return summaries.sort(
    (a, b) => compareCodePoints(b.created_at, a.created_at) || compareCodePoints(b.run_id, a.run_id),
  );
}

/** One agent run with the patch it left. */
export async function showAgentRun(
  outside: AgentPorts,
  name: string,
): Promise<{ readonly summary: AgentSummary; readonly patch: string }> {
  const run = findAgentRun(await outside.workflow("read"), name);
  const patch = run.read(PATCH_FILE) ?? run.read(CAPTURED_FILE);
  return { summary: readSummary(outside, run), patch: new TextDecoder().decode(patch ?? new Uint8Array()) };
}

/** Applies a verified change to the real tree: the workflow's apply step, while no view of the tree is open. */
export async function applyAgentRun(outside: AgentPorts, name: string): Promise<AgentSummary> {
  const ports = await outside.workflow("mutate");
  const run = findAgentRun(ports, name);
  requireOwn(run);
  const summary = readSummary(outside, run);
  if (summary.outcome !== "verified" && summary.outcome !== "unverified") {
    throw new VerbatimError("RUN_NOT_PASSED", {
      message: `only a change that passed its gates can be applied; this run is ${summary.outcome.replaceAll("_", " ")}`,
      where: run.folder.dir,
      fix: `See: verbatim agent show ${run.id}`,
    });
  }
  refuseConcurrent(summary, run);
  // The step that applies locks the tree itself.
  await withSession(ports, run.folder, "agent apply", (session) =>
    advanceRun(session, { maxSteps: 16, apply: true, retryVerify: false }),
  );
  const now = Run.load(ports, run.folder);
  if (now.state.status === "pass") return readSummary(outside, now);
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

/** Throws a change away: the workflow's abort. The repository is not touched. */
export async function discardAgentRun(outside: AgentPorts, name: string): Promise<AgentSummary> {
  const ports = await outside.workflow("mutate");
  const run = findAgentRun(ports, name);
  requireOwn(run);
  refuseEnded(outside, run);
  await withSession(ports, run.folder, "agent discard", (session) => abortRun(session, "discarded by its owner"));
  return readSummary(outside, Run.load(ports, run.folder));
}

/** RUN_ENDED for a run that has nothing to throw away, in the words of agent runs. */
function refuseEnded(outside: AgentPorts, run: Run): void {
  if (run.state.status !== "pass" && run.state.stop_reason === null) return;
  const { outcome } = readSummary(outside, run);
  throw new VerbatimError("RUN_ENDED", {
    message:
      outcome === "applied"
        ? "the change has been applied, so it cannot be discarded"
        : `the run is ${outcome.replaceAll("_", " ")}: it has nothing to apply, so there is nothing to discard`,
    where: run.folder.dir,
    fix: outcome === "applied" ? `Undo it: verbatim workflow rollback ${run.id}` : `See: verbatim agent show ${run.id}`,
  });
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
function readSummary(outside: AgentPorts, run: Run): AgentSummary {
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
  if (written.outcome === "working" && isProcessGone(run, outside)) {
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
