/**
 * The jobs room: messages, plans, steps, receipts, and bundles of finished jobs. `openJobs` gives its operations in a
 * workspace, typed; everything else is pure. Verifying in a browser: `verbatim-agent/verify`.
 */
import { nodeCrypto } from "./adapters/crypto/node-crypto.ts";
import { openLibraryRoom, type RoomOptions } from "./app/library-room.ts";
import type { JsonObject } from "./core/canonical/index.ts";
import { bundleBuild } from "./rooms/jobs/bundle-build-operation.ts";
import { toPlanHash as hashPlan } from "./rooms/jobs/bundle-hash.ts";
import { bundleAttest, bundleDiff, bundleInspect, bundleReplay, bundleVerify } from "./rooms/jobs/bundle-operations.ts";
import { toJobId, toMessageId } from "./rooms/jobs/ids.ts";
import {
  jobCancel,
  jobList,
  jobPlan,
  jobPost,
  jobReceipts,
  jobRun,
  jobStatusShow,
  jobSubmit,
  jobWorker,
} from "./rooms/jobs/job-operations.ts";

export type { RoomOptions as JobsOptions } from "./app/library-room.ts";
export type {
  Artifact,
  BundleManifest,
  BundleStep,
  Message,
  MessageOp,
  Plan,
  Receipt,
  Statement,
  Step,
} from "./rooms/jobs/contracts.ts";
export type { JobStatus } from "./rooms/jobs/job-view.ts";
export { decideClaim, decideFinish, decideRenewal } from "./rooms/jobs/lease.ts";
export { checkManifest, type ManifestMode } from "./rooms/jobs/manifest.ts";
export { checkMessage, parseMessage } from "./rooms/jobs/message.ts";
export {
  type BundleProblem,
  type BundleReport,
  type MemoryTree,
  type Replay,
  replayBundleFiles,
  type VerifyFilesOptions,
  verifyBundleFiles,
} from "./verify.ts";

/** The id of a message in a run, and of the job it becomes. */
export function toJobIds(
  run_id: string,
  message: JsonObject,
): { readonly message_id: string; readonly job_id: string } {
  const message_id = toMessageId(nodeCrypto, run_id, message);
  return { message_id, job_id: toJobId(nodeCrypto, message_id) };
}

/** Bundle Protocol 4.3: over the steps in order, six members each, absent ones as `{}`. */
export function toPlanHash(run_id: string, steps: readonly JsonObject[]): string {
  return hashPlan(nodeCrypto, run_id, steps);
}

/**
 * The room in the workspace around a folder. Nothing is created before an operation must write. Close it, or use
 * `await using`.
 *
 * @example
 * await using jobs = openJobs("path/to/repository");
 * const { job_id } = await jobs.submit({ file: "message.json" });
 * await jobs.buildBundle({ job_id, out: "bundle" });
 */
export function openJobs(folder: string, options: RoomOptions = {}) {
  const { bind, ends } = openLibraryRoom(folder, options);
  return {
    plan: bind(jobPlan),
    post: bind(jobPost),
    run: bind(jobRun),
    submit: bind(jobSubmit),
    work: bind(jobWorker),
    cancel: bind(jobCancel),
    status: bind(jobStatusShow),
    list: bind(jobList),
    receipts: bind(jobReceipts),
    buildBundle: bind(bundleBuild),
    verifyBundle: bind(bundleVerify),
    inspectBundle: bind(bundleInspect),
    diffBundles: bind(bundleDiff),
    replayBundle: bind(bundleReplay),
    attestBundle: bind(bundleAttest),
    ...ends,
  };
}
