import { isVerbatimError } from "../../../core/errors/index.ts";
import type { AgentPorts } from "../ports.ts";
import { slimEndedRuns } from "./pieces.ts";
import { applyRetention } from "./prune.ts";

/** What earlier runs left takes less room from now on. That it could not is no reason for a run to fail, and is told. */
export async function tidyUp(outside: AgentPorts): Promise<void> {
  try {
    await slimEndedRuns(outside);
    await applyRetention(outside);
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    outside.notify(`earlier runs could not be tidied up: ${thrown.message}; try: verbatim agent prune`);
  }
}
