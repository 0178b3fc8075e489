import { AgentRecord, describeLost, type Run } from "../../../rooms/workflow/index.ts";
import { readFirstSummary } from "../landing/first-generation.ts";
import type { AgentPorts } from "../ports.ts";
import { isProcessGone } from "../work/agent-process.ts";
import { type AgentSummary, SUMMARY_FILE } from "./agent-summary.ts";
import { toSummary } from "./report.ts";

/** The summary of a run as it is on disk; what a kill left is told as the next verb will repair it. Null: no agent's. */
export function readSummary(outside: AgentPorts, run: Run): AgentSummary | null {
  const record = AgentRecord.load(run);
  if (record === null) return run.read(SUMMARY_FILE) === null ? null : readFirstSummary(outside, run);
  const summary = toSummary(record);
  const lost = describeLost(record);
  if (lost === null || !isProcessGone(run, outside)) return summary;
  return { ...summary, outcome: lost.state, reason: lost.reason };
}
