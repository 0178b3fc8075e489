/**
 * The catalytic room: rules, runs, recovery, verification and the isolated view. Ports for this machine come from
 * `openCatalytic`; everything else is pure.
 */
import { openApp } from "./app/app.ts";
import { createCatalyticPorts, toCatalyticPlaces } from "./app/catalytic-ports.ts";
import { compose } from "./app/compose.ts";
import type { JsonObject } from "./core/canonical/index.ts";
import { recoverRuns } from "./rooms/catalytic/recover.ts";
import { runCatalytic } from "./rooms/catalytic/run.ts";
import { runInView, type ViewOptions } from "./rooms/catalytic/view.ts";

export { diffTrees } from "./rooms/catalytic/diff.ts";
export { chooseGuard } from "./rooms/catalytic/guard-choice.ts";
export { type JobSpec, parseJobSpec } from "./rooms/catalytic/jobspec.ts";
export { lockState } from "./rooms/catalytic/lock.ts";
export { memoKey } from "./rooms/catalytic/memo.ts";
export { sealOutputs } from "./rooms/catalytic/outputs.ts";
export { effectivePolicy, type Policy } from "./rooms/catalytic/policy.ts";
export type { CatalyticPorts } from "./rooms/catalytic/ports.ts";
export { checkPaths } from "./rooms/catalytic/preflight.ts";
export { type Proof, proofHash } from "./rooms/catalytic/proof.ts";
export { recoverRuns } from "./rooms/catalytic/recover.ts";
export { planRecovery } from "./rooms/catalytic/recovery.ts";
export { type RunResult, runCatalytic } from "./rooms/catalytic/run.ts";
export { checkRunLedger } from "./rooms/catalytic/run-ledger.ts";
export { checkSkill } from "./rooms/catalytic/skill.ts";
export { merkleRoot } from "./rooms/catalytic/tree.ts";
export { compareTripwire } from "./rooms/catalytic/tripwire.ts";
export { decideVerdict } from "./rooms/catalytic/verdict.ts";
export { verifyRun } from "./rooms/catalytic/verify.ts";
export { runInView, type ViewOptions, type ViewOutcome } from "./rooms/catalytic/view.ts";

/**
 * The room with real adapters, in the workspace around a folder.
 *
 * @example
 * await using room = openCatalytic("/path/to/repository");
 * const run = await room.run({ schema_version: "cmp01-jobspec-1", ... });
 */
export function openCatalytic(folder: string, env: NodeJS.ProcessEnv = process.env) {
  const options = { door: "library", start: folder, env, platform: process.platform } as const;
  const composition = compose(options, () => openApp(options));
  const ports = createCatalyticPorts(composition);
  const places = toCatalyticPlaces(composition);
  const close = () => composition.close();
  return {
    ports,
    /** Runs a JobSpec. */
    run: (jobspec: object) => runCatalytic(ports, { ...places, jobspec: jobspec as JsonObject }),
    /** Runs a command in an isolated view of the repository. */
    view: (view: Omit<ViewOptions, "root" | "state" | "user_state" | "config">) =>
      runInView(ports, { ...places, ...view }),
    recover: () => recoverRuns(ports, places.state, { run_id: null, dry_run: false, force: false }),
    close,
    [Symbol.asyncDispose]: close,
  };
}
