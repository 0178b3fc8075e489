import type { AgentSummary } from "./agent-summary.ts";
import { runAttempts } from "./attempts.ts";
import type { AgentPorts } from "./ports.ts";
import { type Prepared, prepare } from "./prepare.ts";
import type { AgentRequest } from "./request.ts";
import type { RunControl } from "./run-control.ts";
import { withPreparedRun } from "./session.ts";

/**
 * Runs a command as an agent under contract: a view of the whole tree, the real tree proved untouched, the change as a
 * candidate, the gate, verification. Nothing is applied here.
 */
export async function runAgent(outside: AgentPorts, request: AgentRequest): Promise<AgentSummary> {
  return await runPrepared(outside, request, await prepare(outside, request));
}

/** The same with a run that is on disk; whoever wants to end it is told of its control. */
export async function runPrepared(
  outside: AgentPorts,
  request: AgentRequest,
  prepared: Prepared,
  onControl?: (control: RunControl) => void,
): Promise<AgentSummary> {
  return await withPreparedRun(outside, prepared.run, async (open) => {
    const control = outside.control.current();
    if (control !== null) onControl?.(control);
    return await runAttempts(outside, open, request, prepared);
  });
}
