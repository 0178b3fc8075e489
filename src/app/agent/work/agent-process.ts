import { formatCanonical, isJsonObject, parseJson } from "../../../core/canonical/index.ts";
import { lockState, ownerOf, readOwner } from "../../../rooms/catalytic/index.ts";
import type { Run } from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";

const PROCESS_FILE = "agent/supervisor.json";
/** Where the first generation kept it. */
const FIRST_FILE = "agent/process.json";

/** Where a run at work can be reached, and the word that opens it. */
export interface ControlPlace {
  readonly socket: string;
  readonly token: string;
}

/** Writes down which process of ours works on a run and how to reach it, so that others can tell when it is gone. */
export function recordProcess(run: Run, outside: AgentPorts, control: ControlPlace | null = null): void {
  run.folder.write(PROCESS_FILE, `${formatCanonical({ ...ownerOf(outside.host()), ...control })}\n`);
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

/** How the process that works on a run can be reached; null: it cannot, or it is gone. */
export function readControl(run: Pick<Run, "read">, outside: Pick<AgentPorts, "host">): ControlPlace | null {
  const bytes = run.read(PROCESS_FILE);
  const value = bytes === null ? null : parseJson(bytes);
  if (!isJsonObject(value) || lockState(readOwner(value), outside.host()) !== "held") return null;
  const { socket, token } = value;
  return typeof socket === "string" && typeof token === "string" ? { socket, token } : null;
}

/** The process that works on a run, where it is certainly there: whoever has its number now is the one that wrote it down. */
export function readHeldBy(run: Pick<Run, "read">, outside: Pick<AgentPorts, "host">): number | null {
  const owner = toOwner(run.read(PROCESS_FILE));
  return owner !== null && lockState(owner, outside.host()) === "held" ? owner.pid : null;
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
