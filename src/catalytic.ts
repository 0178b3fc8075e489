/**
 * The catalytic room: rules, runs, recovery, verification and the isolated view. Ports for this machine come from
 * `openCatalytic`; everything else is pure.
 *
 * @packageDocumentation
 */

import { openApp } from "./app/call.ts";
import { createCatalyticPorts, toCatalyticPlaces } from "./app/compose/catalytic-ports.ts";
import { compose } from "./app/compose/compose.ts";
import type { JsonObject } from "./core/canonical/index.ts";
import { recoverRuns, runCatalytic, runInView, type ViewOptions } from "./rooms/catalytic/index.ts";

export { nodeCrypto } from "./app/compose/crypto.ts";
export {
  type CatalyticPorts,
  checkPaths,
  checkRunLedger,
  checkSkill,
  chooseGuard,
  compareTripwire,
  decideVerdict,
  diffTrees,
  effectivePolicy,
  type JobSpec,
  lockState,
  memoKey,
  merkleRoot,
  type Policy,
  type Proof,
  parseJobSpec,
  planRecovery,
  proofHash,
  type RunResult,
  recoverRuns,
  runCatalytic,
  runInView,
  sealOutputs,
  type ViewOptions,
  type ViewOutcome,
  verifyRun,
} from "./rooms/catalytic/index.ts";

/**
 * The room with real adapters, in the workspace around a folder.
 *
 * @example
 * const room = openCatalytic("path/to/repository");
 * const run = await room.run({
 *   schema_version: "cmp01-jobspec-1",
 *   run_id: "count-lines",
 *   command: ["/bin/sh", "-c", "wc -l src/*.mjs > .verbatim/out/lines.txt"],
 *   catalytic_domains: [".verbatim/scratch"],
 *   durable_output_roots: [".verbatim/out"],
 *   outputs: { durable_paths: [".verbatim/out/lines.txt"] },
 * });
 * await room.close();
 */
export function openCatalytic(folder: string, env: NodeJS.ProcessEnv = process.env) {
  const options = { surface: "library", start: folder, env, platform: process.platform } as const;
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
