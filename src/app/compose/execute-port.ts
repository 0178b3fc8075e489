import { isJsonObject, type JsonObject, parseJson } from "../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../core/errors/index.ts";
import { type CatalyticPorts, parseJobSpec, recoverRuns, runCatalytic } from "../../rooms/catalytic/index.ts";
import type { ExecutePort } from "../../rooms/jobs/index.ts";
import { createCatalyticPorts, toCatalyticPlaces } from "./catalytic-ports.ts";
import type { Composition } from "./compose.ts";
import { alsoWhen } from "./compose.ts";

/** EXECUTE steps: a catalytic run. Only a run that was accepted, which needs its proof, counts. */
export function createExecutePort(composition: Composition): ExecutePort {
  return {
    isJobSpec: (text) => readJobSpec(text) !== null,
    async run({ jobspec, run_id, earlier, signal }) {
      const base = createCatalyticPorts(composition);
      const ports: CatalyticPorts = { ...base, interrupts: alsoWhen(signal, base.interrupts) };
      const places = toCatalyticPlaces(composition);
      for (const attempt of earlier) await recoverAttempt(ports, places.state, attempt);
      if (signal.aborted) return null;
      const result = await runCatalytic(ports, { ...places, jobspec: { ...readJobSpec(jobspec), run_id } });
      if (result.accepted && result.proof_hash !== null) return { proof_hash: result.proof_hash };
      if (result.condition === "INTERRUPTED") {
        if (signal.aborted) return null;
        // Someone ended this attempt; that says nothing about the step, and the next attempt recovers it.
        throw new VerbatimError("INTERRUPTED");
      }
      const violations = result.violations.map(({ code, path }) => ({ code, path }));
      const details: JsonObject = { catalytic_run_id: run_id, exit_code: result.exit_code, violations };
      return { refused: { code: result.condition, details } };
    },
  };
}

/** An attempt that never began has nothing to recover. */
async function recoverAttempt(ports: CatalyticPorts, state: string, run_id: string): Promise<void> {
  try {
    await recoverRuns(ports, state, { run_id, dry_run: false, force: false });
  } catch (thrown) {
    if (!isVerbatimError(thrown) || thrown.code !== "RUN_NOT_FOUND") throw thrown;
  }
}

function readJobSpec(text: string): JsonObject | null {
  try {
    const value = parseJson(text);
    return isJsonObject(value) && parseJobSpec(value).ok ? value : null;
  } catch (thrown) {
    if (isVerbatimError(thrown)) return null;
    throw thrown;
  }
}
