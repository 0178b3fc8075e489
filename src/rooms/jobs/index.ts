// The front door of this room: everything the app may use of it. Nothing inside the room imports this file.

export { type BundleBuildOptions, type BundleBuildPorts, writeBundle } from "./bundle/bundle-build.ts";
export { toPlanHash } from "./bundle/bundle-hash.ts";
export type { BundleProblem } from "./bundle/bundle-problem.ts";
export { type BundleReport, verifyBundle } from "./bundle/bundle-verify.ts";
export { checkManifest, type ManifestMode } from "./bundle/manifest.ts";
export { type MemoryTree, openMemoryBundle } from "./bundle/memory-bundle.ts";
export { type Replay, replayBundle } from "./bundle/replay.ts";
export { JOBS_AREAS } from "./conformance.ts";
export {
  type Artifact,
  type BundleManifest,
  type BundleStep,
  JOBS_CONTRACTS,
  type Message,
  type MessageOp,
  type Plan,
  type Receipt,
  type Statement,
  type Step,
} from "./contracts/index.ts";
export { toJobId, toMessageId } from "./message/ids.ts";
export { checkMessage, parseMessage, toMessage } from "./message/message.ts";

export { postMessage } from "./message/post.ts";
export { type BundleMakerPorts, bundleBuild } from "./operations/bundle-build.ts";
export { BUNDLE_OPERATIONS, type BundlePorts } from "./operations/bundles.ts";
export { JOB_OPERATIONS, type JobPorts, type JobTeam } from "./operations/jobs.ts";
export { jobLand } from "./operations/land.ts";
export { planMessage } from "./plan/plan.ts";
export type { PlanProblem } from "./plan/plan-problem.ts";
export type {
  Corpus,
  CorpusView,
  Dispatch,
  EffectRequest,
  EffectsPort,
  ExecutePort,
  JobsReader,
  JobsWriter,
  LandRow,
  NewLanding,
  PatchPort,
  Pauses,
  QueuedResult,
  QueuedRow,
  RepositoryRow,
  StepFailure,
  TeamReader,
  TeamWriter,
  WorkerBeat,
  WorkItem,
} from "./ports.ts";
export { agentQueueOf, landQueueOf, queueOf } from "./steps/dispatch.ts";
export { runJob } from "./steps/job-run.ts";
export type { JobStatus } from "./steps/job-view.ts";
export { decideClaim, decideFinish, decideRenewal } from "./steps/lease.ts";
export { type OwnPorts, ownJob, resendLost } from "./steps/own-job.ts";
