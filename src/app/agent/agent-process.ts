import { formatCanonical, isJsonObject, parseJson } from "../../core/canonical/index.ts";
import { lockState, ownerOf, readOwner } from "../../rooms/catalytic/index.ts";
import type { Run } from "../../rooms/workflow/index.ts";
import type { AgentPorts } from "./ports.ts";

const PROCESS_FILE = "agent/supervisor.json";
/** Where the first generation kept it. */
const FIRST_FILE = "agent/process.json";

/** Writes down which process of ours works on a run, so that others can tell when it is gone. */
export function recordProcess(run: Run, outside: AgentPorts): void {
  run.folder.write(PROCESS_FILE, `${formatCanonical({ ...ownerOf(outside.host()) })}\n`);
}

/** The run has ended, or waits for somebody. */
export function forgetProcess(run: Run): void {
  run.folder.remove(PROCESS_FILE);
}

/** Which process of ours works on a run by its own word, or null. */
export function readProcess(run: Run): { readonly pid: number } | null {
  const owner = toOwner(run.read(PROCESS_FILE));
  return owner === null ? null : { pid: owner.pid };
}

/** Whether no process works on a run that is at work by its own word. */
export function isProcessGone(run: Pick<Run, "read">, outside: Pick<AgentPorts, "host">): boolean {
  return isGone(run.read(PROCESS_FILE), outside, true);
}

/** The same of a run of the first generation; early versions did not write it down. */
export function isFirstProcessGone(run: Run, outside: AgentPorts): boolean {
  return isGone(run.read(FIRST_FILE), outside, false);
}

function isGone(bytes: Uint8Array | null, outside: Pick<AgentPorts, "host">, unknown: boolean): boolean {
  const owner = toOwner(bytes);
  return owner === null ? unknown : lockState(owner, outside.host()) === "stale";
}

function toOwner(bytes: Uint8Array | null): ReturnType<typeof readOwner> | null {
  const owner = bytes === null ? null : parseJson(bytes);
  return isJsonObject(owner) ? readOwner(owner) : null;
}
