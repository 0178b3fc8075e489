// The front door of this room: everything the app may use of it. Nothing inside the room imports this file.

export { GUARD_REQUESTS, type GuardName, type GuardRequest } from "../../core/contracts/guards.ts";
export { CATALYTIC_AREAS, preflightArea } from "./conformance.ts";
export type { NetworkMode } from "./contracts/constants.ts";
export { CATALYTIC_CONTRACTS } from "./contracts/index.ts";
export { readPolicy } from "./declare/declare.ts";
export { type JobSpec, parseJobSpec } from "./declare/jobspec.ts";
export { isRunId } from "./declare/jobspec-fields.ts";
export { effectivePolicy, type Policy } from "./declare/policy.ts";
export { checkPaths, type DeclaredPaths } from "./declare/preflight.ts";
export { checkSkill } from "./declare/skill.ts";
export { canConfine, chooseGuard, gapsOf, guardOrder, limitsOf } from "./guard/guard-choice.ts";
export { compareTripwire } from "./guard/tripwire.ts";
export { ConnectionLog, type ConnectionSummary, formatConnection } from "./network/connection-log.ts";
export { CATALYTIC_OPERATIONS } from "./operations/index.ts";
export type { RoomPorts } from "./operations/ports.ts";
export { sealOutputs } from "./outputs/outputs.ts";
export { isSameEntry } from "./outputs/staging.ts";
export type {
  CatalyticPorts,
  FolderNow,
  Interrupts,
  OutputFilter,
  PathLook,
  Reach,
  RunRecords,
  TreeScan,
  UserTerminal,
  Validator,
} from "./ports.ts";
export { type Proof, proofHash } from "./record/proof.ts";
export { checkRunLedger, type RunEntry } from "./record/run-ledger.ts";
export { readLeftChanges } from "./recover/left-view.ts";
export { recoverDead, recoverRuns } from "./recover/recover.ts";
export { planRecovery } from "./recover/recovery.ts";
export { acquireLocks, ownerOf, releaseLocks } from "./run/lock-files.ts";
export { lockState, readOwner } from "./run/lock-state.ts";
export { type RunResult, runCatalytic } from "./run/run.ts";
export type { CapsOutcome } from "./run/run-caps.ts";
export { hasPieces, type KnownPieces, listOwnPieces, readPieces, readWholeFile, slimRecord } from "./slim/pieces.ts";
export { diffTrees } from "./tree/diff.ts";
export { memoKey } from "./tree/memo.ts";
export { contentManifest, type Entry, merkleRoot, readTree, stateOf, type Tree } from "./tree/tree.ts";
export { decideVerdict } from "./verify/verdict.ts";
export { verifyRun } from "./verify/verify.ts";
export { lookAtTree, nameView, runInView, type ViewOptions, type ViewOutcome } from "./view/view.ts";
export type { ViewChanges } from "./view/view-changes.ts";
export type { TreeWrite } from "./view/view-writes.ts";
