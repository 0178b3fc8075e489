import { AgentRecord, type AgentState, type Run, toName } from "../../../rooms/workflow/index.ts";

/** Where a run has come to its end. */
const RUN_ENDS: readonly AgentState[] = ["applied", "unchanged", "not_started", "discarded", "undone"];

/** What only a run that is open has: its sessions as they were written, and the upper folder of its view. */
export function dropOpenFiles(run: Run): void {
  const record = AgentRecord.load(run);
  if (record === null || !RUN_ENDS.includes(record.now.state)) return;
  for (let n = 1; n <= record.now.attempts; n++) run.folder.remove(`agent/attempts/${toName(n)}/home`);
  run.folder.remove(LAYER_FOLDER);
}

/** The kept upper folder of the newest attempt. */
export const LAYER_FOLDER = "agent/layer";
