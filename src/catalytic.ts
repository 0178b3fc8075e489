/**
 * The catalytic room: rules, runs, recovery, verification and the isolated view. Ports for this machine come from
 * `openCatalytic`; everything else is pure.
 */
import { openApp } from "./app/app.ts";
import { createCatalyticPorts, toCatalyticPlaces } from "./app/catalytic-ports.ts";
import { compose } from "./app/compose.ts";
import type { JsonObject } from "./core/canonical/index.ts";
import { recoverRuns } from "./rooms/catalytic/recover/recover.ts";
import { runCatalytic } from "./rooms/catalytic/run/run.ts";
import { runInView, type ViewOptions } from "./rooms/catalytic/view/view.ts";

export { type JobSpec, parseJobSpec } from "./rooms/catalytic/declare/jobspec.ts";
export { effectivePolicy, type Policy } from "./rooms/catalytic/declare/policy.ts";
export { checkPaths } from "./rooms/catalytic/declare/preflight.ts";
export { checkSkill } from "./rooms/catalytic/declare/skill.ts";
export { chooseGuard } from "./rooms/catalytic/guard/guard-choice.ts";
export { compareTripwire } from "./rooms/catalytic/guard/tripwire.ts";
export { sealOutputs } from "./rooms/catalytic/outputs/outputs.ts";
export type { CatalyticPorts } from "./rooms/catalytic/ports.ts";
export { type Proof, proofHash } from "./rooms/catalytic/record/proof.ts";
export { checkRunLedger } from "./rooms/catalytic/record/run-ledger.ts";
export { recoverRuns } from "./rooms/catalytic/recover/recover.ts";
export { planRecovery } from "./rooms/catalytic/recover/recovery.ts";
export { lockState } from "./rooms/catalytic/run/lock-state.ts";
export { type RunResult, runCatalytic } from "./rooms/catalytic/run/run.ts";
export { diffTrees } from "./rooms/catalytic/tree/diff.ts";
export { memoKey } from "./rooms/catalytic/tree/memo.ts";
export { merkleRoot } from "./rooms/catalytic/tree/tree.ts";
export { decideVerdict } from "./rooms/catalytic/verify/verdict.ts";
export { verifyRun } from "./rooms/catalytic/verify/verify.ts";
export { runInView, type ViewOptions, type ViewOutcome } from "./rooms/catalytic/view/view.ts";

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
