import { formatCanonical, isJsonObject, parseJson } from "../../core/canonical/index.ts";
import { lockState, ownerOf, readOwner } from "../../rooms/catalytic/index.ts";
import type { Run } from "../../rooms/workflow/index.ts";
import type { AgentPorts } from "./ports.ts";

const PROCESS_FILE = "agent/process.json";

/** Writes down which process of ours works on a run, so that others can tell when it is gone. */
export function recordProcess(run: Run, outside: AgentPorts): void {
  run.folder.write(PROCESS_FILE, `${formatCanonical({ ...ownerOf(outside.host()) })}\n`);
}

/** Whether the process that worked on a run is certainly gone. Earlier versions did not write it down. */
export function isProcessGone(run: Run, outside: AgentPorts): boolean {
  const bytes = run.read(PROCESS_FILE);
  const owner = bytes === null ? null : parseJson(bytes);
  return isJsonObject(owner) && lockState(readOwner(owner), outside.host()) === "stale";
}
