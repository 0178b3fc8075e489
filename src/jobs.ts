/**
 * The jobs room: messages, plans, steps, receipts, and bundles of finished jobs. `openJobs` gives its operations in a
 * workspace, typed; everything else is pure. Verifying in a browser: `verbatim-agent/verify`.
 *
 * @packageDocumentation
 */

import { nodeCrypto } from "./app/compose/crypto.ts";
import { openLibraryRoom, type RoomOptions } from "./app/library.ts";
import type { JsonObject } from "./core/canonical/index.ts";
import { toPlanHash as hashPlan, toJobId, toMessageId } from "./rooms/jobs/index.ts";

export type { RoomOptions as JobsOptions } from "./app/library.ts";
export {
  type Artifact,
  type BundleManifest,
  type BundleStep,
  checkManifest,
  checkMessage,
  decideClaim,
  decideFinish,
  decideRenewal,
  type JobStatus,
  type ManifestMode,
  type Message,
  type MessageOp,
  type Plan,
  parseMessage,
  type Receipt,
  type Statement,
  type Step,
} from "./rooms/jobs/index.ts";
export {
  type BundleProblem,
  type BundleReport,
  type MemoryTree,
  type Replay,
  replayBundleFiles,
  type VerifyFilesOptions,
  verifyBundleFiles,
} from "./verify.ts";

/**
 * The id of a message in a run, and of the job it becomes.
 *
 * @example
 * const run_id = "66145e27-efb4-42c3-8124-95bec61226fb";
 * toJobIds(run_id, { intent: "read the tides" }).job_id.length; // => 20
 */
export function toJobIds(
  run_id: string,
  message: JsonObject,
): { readonly message_id: string; readonly job_id: string } {
  const message_id = toMessageId(nodeCrypto, run_id, message);
  return { message_id, job_id: toJobId(nodeCrypto, message_id) };
}

/**
 * Bundle Protocol 4.3: over the steps in order, six members each, absent ones as `{}`.
 *
 * @example
 * toPlanHash("66145e27-efb4-42c3-8124-95bec61226fb", []).length; // => 64
 */
export function toPlanHash(run_id: string, steps: readonly JsonObject[]): string {
  return hashPlan(nodeCrypto, run_id, steps);
}

/**
 * The room in the workspace around a folder. Nothing is created before an operation must write. Close it, or
 * declare it with `await using`.
 *
 * @example
 * const jobs = openJobs("path/to/repository");
 * const { job_id } = await jobs.submit({ file: "message.json" });
 * await jobs.buildBundle({ job_id, out: "bundle" });
 * await jobs.close();
 */
export function openJobs(folder: string, options: RoomOptions = {}) {
  const { bind, ends } = openLibraryRoom(folder, options);
  return {
    plan: bind("jobs.plan"),
    post: bind("jobs.post"),
    run: bind("jobs.run"),
    submit: bind("jobs.submit"),
    work: bind("jobs.worker"),
    cancel: bind("jobs.cancel"),
    status: bind("jobs.status"),
    list: bind("jobs.list"),
    receipts: bind("jobs.receipts"),
    buildBundle: bind("jobs.bundle-build"),
    verifyBundle: bind("jobs.bundle-verify"),
    inspectBundle: bind("jobs.bundle-inspect"),
    diffBundles: bind("jobs.bundle-diff"),
    replayBundle: bind("jobs.bundle-replay"),
    attestBundle: bind("jobs.bundle-attest"),
    ...ends,
  };
}
