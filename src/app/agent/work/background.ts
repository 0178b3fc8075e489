import type { AgentPorts } from "../ports.ts";
import type { AgentSummary } from "../report/agent-summary.ts";
import { readSummary } from "../report/read-summary.ts";
import { findAgentRun } from "../runs/find-agent-run.ts";

/** Starts a run in a process of its own; whoever asked goes on once the agent has really started. */
export async function startInBackground(outside: AgentPorts, input: object): Promise<AgentSummary> {
  const { run_id } = await outside.control.startDetached("agent.run", input, (text) => outside.notify(text));
  const run = await findAgentRun(outside, await outside.workflow("read"), run_id);
  return readSummary(outside, run)!;
}
