import { AT_WORK } from "../contracts/agent-run.ts";
import type { WorkflowPorts } from "../operations/ports.ts";
import type { Run } from "../run/run.ts";
import { AgentRecord } from "./agent-record.ts";
import { describeLost } from "./recover-agent-run.ts";

/** How an agent run stands in the eyes of this room. */
interface AgentStanding {
  readonly status: "running" | "blocked";
  /** Absent where the run waits: then what it waits for is what its artifacts say. */
  readonly code?: "RUN_AT_WORK" | "RUN_NOT_RUNNING";
  readonly message: string;
}

/**
 * An agent run that is open, or null for every other run. RUN.json calls it running until it is decided; whether anybody
 * is at work on it, and what it waits for, only its own record and its process say.
 */
export function readAgentStanding(ports: Pick<WorkflowPorts, "isAgentGone">, run: Run): AgentStanding | null {
  if (run.state.status !== "running" || run.state.direct === undefined) return null;
  const record = AgentRecord.load(run);
  if (record === null) return null;
  const { state, reason } = record.now;
  const named = state.replaceAll("_", " ");
  if (!AT_WORK.includes(state)) {
    const message = `the agent run is ${named}${reason === null ? "" : `: ${reason}`}`;
    return { status: "blocked", message };
  }
  if (!ports.isAgentGone(run.folder)) {
    return { status: "running", code: "RUN_AT_WORK", message: `an agent run is at work: ${named}` };
  }
  const lost =
    describeLost(record)?.reason ??
    "Verbatim ended while it wrote the change; the next verb of the run puts that in order";
  return { status: "blocked", code: "RUN_NOT_RUNNING", message: lost };
}
