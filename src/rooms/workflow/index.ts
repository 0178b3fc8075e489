// The front door of this room: everything the app may use of it. Nothing inside the room imports this file.
export { AGENT_RUN_FILE, AgentRecord, ATTESTATION_FILE, toName } from "./agent/agent-record.ts";
export { addComment, type Comment, listComments, pickComments, withdrawComment } from "./agent/comments.ts";
export {
  type FailedCommand,
  type FeedbackParts,
  formatFeedback,
  type Remark,
  signFailure,
} from "./agent/feedback-text.ts";
export { judgeCandidate } from "./agent/judge-candidate.ts";
export { checkOwnGates } from "./agent/own-gates.ts";
export { recordSkipped, recordVerification } from "./agent/record-verification.ts";
export {
  describeLost,
  finishLanding,
  isInTheMiddle,
  recoverAgentRun,
  undoAgentRun,
} from "./agent/recover-agent-run.ts";
export { type BehaviorConfig, checkBehaviors, findMarkers } from "./artifacts/behaviors.ts";
export { layOutBundle } from "./artifacts/bundle-layout.ts";
export { CONTEXT_PACK_FILE, type ContextPack, validateContextPack } from "./artifacts/context-pack.ts";
export { type Dispatch, validateDispatch } from "./artifacts/dispatch.ts";
export { type RunEvent, validateEvents } from "./artifacts/events.ts";
export { type ExpectedResult, validateExpectedResults } from "./artifacts/expected-results.ts";
export { checkFileRequest, type FileRequest, validateFileRequest } from "./artifacts/file-request.ts";
export { validateFindResult } from "./artifacts/find-result.ts";
export { validateFindWeb } from "./artifacts/find-web.ts";
export { type ArtifactFinding, formatFinding, type Verdict } from "./artifacts/finding.ts";
export { type Guardrails, validateGuardrails } from "./artifacts/guardrails.ts";
export { formatArtifact } from "./artifacts/json.ts";
export { PLAN_FILE, type Plan, validatePlan } from "./artifacts/plan.ts";
export { checkPlan } from "./artifacts/plan-check.ts";
export { matchPlan, signDraft } from "./artifacts/plan-match.ts";
export { type Reason, validateReasons } from "./artifacts/reasons.ts";
export { judgeReview, type ReviewResult } from "./artifacts/review.ts";
export { coversExactly, coversFolded, judgeScope, type Scope } from "./artifacts/scope.ts";
export { VERIFY_REPORT_FILE, type VerifyReport, validateVerifyReport } from "./artifacts/verify-report.ts";
export { type CheckedCommit, checkCommit } from "./attest/check-commit.ts";
export { formatAgentStatement } from "./attest/statement.ts";
export {
  buildCandidate,
  type FileChange,
  type FileSide,
  splitChanges,
} from "./candidate/build-candidate.ts";
export { type FileHunks, readHunks } from "./candidate/hunks.ts";
export { selectChanges } from "./candidate/select-changes.ts";
export { resolveSelection } from "./candidate/selection.ts";
export { formatCommitMessage, requireMessage } from "./commit/message.ts";
export { makeCommit } from "./commit/settle-commit.ts";
export { readTreeAsFiles } from "./commit/tree-as-files.ts";
export { toBytes, WORKFLOW_AREAS } from "./conformance.ts";
export type { AgentChangePredicate } from "./contracts/agent-change.ts";
export type { AgentProfile, LoginFile, SessionPlace } from "./contracts/agent-profile.ts";
export {
  AGENT_STATES,
  type AgentAttempt,
  type AgentGate,
  type AgentRun,
  type AgentState,
  AT_WORK,
  LIMIT_NAMES,
  type PathThen,
  type RequestedCommand,
} from "./contracts/agent-run.ts";
export {
  AGENT_TRACE,
  AGENT_TRACE_VERSION,
  type AgentTrace,
  TRANSCRIPT_VERSION,
  type TraceRange,
  type Transcript,
} from "./contracts/agent-trace.ts";
export type { AgentSession, AgentUsage } from "./contracts/agent-usage.ts";
export {
  type Candidate,
  type CandidateFile,
  type CandidatePick,
  CHOICE_VERSION,
} from "./contracts/candidate.ts";
export { LANDING_COMMIT_VERSION, type LandingCommit } from "./contracts/commit.ts";
export { WORKFLOW_CONTRACTS } from "./contracts/index.ts";
export type { LandedFile, Landing } from "./contracts/landing.ts";
export { WORKFLOW_RECORDS } from "./contracts/records.ts";
export { expandTemplate, formatArgv, splitWords, type TemplateValues } from "./dispatch/argv-template.ts";
export { describeStep } from "./dispatch/describe-step.ts";
export { findNextStep, type NextStep, PATCH_FILE, type RunView } from "./dispatch/next-step.ts";
export { resolveWorkflow } from "./dispatch/resolver.ts";
export {
  type LandingPlan,
  type PlannedFile,
  planLanding,
  toLandingChanges,
  type WantedFile,
} from "./landing/plan-landing.ts";
export { undoLanding } from "./landing/recover-landing.ts";
export {
  describeConflict,
  describeMerge,
  describeMoved,
  requireNoConflict,
  requireVerified,
  toLanding,
} from "./landing/refusals.ts";
export {
  closeLanding,
  isLandingOpen,
  writeLanding,
} from "./landing/write-landing.ts";
export { buildPack } from "./librarian/librarian.ts";
export { WORKFLOW_OPERATIONS } from "./operations/index.ts";
export type { WorkflowPorts } from "./operations/ports.ts";
export { escapeData, formatReport, type ReportFormat } from "./operations/reports.ts";
export { judgePatchWithGit } from "./patch/git-stage.ts";
export { type GateInput, judgePatch, type PatchResult } from "./patch/patch-gate.ts";
export { DEFAULT_POLICY, type PatchPolicy, type PlanLimits, readPolicy } from "./patch/patch-policy.ts";
export { PatchRefused } from "./patch/rejection.ts";
export { type AgentPolicy, type PolicySources, resolveAgentPolicy } from "./policy/agent-policy.ts";
export {
  describeFinding,
  judgePath,
  type SpecialFile,
} from "./policy/judge-change.ts";
export {
  BROWSER_FOLDERS,
  compileMasks,
  type HiddenValue,
  HOME_SECRETS,
  INSTALLED_FOLDERS,
  listMoved,
  readAssignments,
} from "./policy/masks.ts";
export { listNotices, type ManifestChange } from "./policy/notices.ts";
export { listDefaultPolicy } from "./policy/policy-table.ts";
export type {
  AgentRunRow,
  AgentRunsReader,
  AgentRunsWanted,
  AgentRunsWriter,
  BaseTree,
  ChangedPaths,
  ChangeSide,
  CommitFacts,
  CommitHook,
  CommitPoint,
  CommitRow,
  GateScript,
  GateSession,
  GitWork,
  History,
  Isolations,
  LockFacts,
  PatchChecker,
  RepoIdentity,
  RepoIdentityPort,
  RepoReader,
  RunStore,
  VerificationEnd,
  VerificationPlace,
  VerificationScript,
  VerificationSession,
  ViewWrite,
} from "./ports.ts";
export { detectProfile } from "./profile/detect.ts";
export { type AgentEnvironment, filterEnvironment } from "./profile/environment.ts";
export { judgeLogin, MOST_LOGIN_BYTES, placeInHome } from "./profile/login.ts";
export {
  builtInProfiles,
  findProfile,
  type KnownProfile,
  mergeProfiles,
  PROFILE_SOURCES,
  readProfile,
} from "./profile/profiles.ts";
export { type ProfileHost, readProviderHosts } from "./profile/provider-hosts.ts";
export { findKnownSecrets } from "./redaction/known-secrets.ts";
export { SECRET_FORMS, toSecretForms } from "./redaction/matchers.ts";
export { Redactor, redactBytes, SecretFinder } from "./redaction/redactor.ts";
export { advanceRun } from "./run/advance.ts";
export { rollBackRun } from "./run/apply/rollback.ts";
export { createDirectRun } from "./run/direct-run.ts";
export { abortRun } from "./run/end-run.ts";
export { requireOwn } from "./run/find/find-run.ts";
export { toRepoSlug } from "./run/find/repo-slug.ts";
export { isRunId, makeRunId } from "./run/find/run-id.ts";
export { isAge, resolveRunName } from "./run/find/run-name.ts";
export { appendToRun, catchUp } from "./run/record/agent-projection.ts";
export { appendToRace } from "./run/record/race-record.ts";
export { streamOf } from "./run/record/run-log.ts";
export { RUN_FILE, type RunState } from "./run/record/run-state.ts";
export { COPY_FOLDER } from "./run/recovery.ts";
export { Run } from "./run/run.ts";
export { type Session, withSession } from "./run/session.ts";

export { childEnvironment, TOOL_HOMES } from "./run/verify/child-environment.ts";

export { listAddedRanges } from "./trace/added-ranges.ts";
export { toModelId } from "./trace/model-id.ts";

export { countUsage, mergeModels, sumUsage, toDollars, toMicro } from "./usage/count-usage.ts";
export { readPrices } from "./usage/prices.ts";
export { mergeCalls, readSession, SESSION_FORMATS, type SessionFormat } from "./usage/read-session.ts";
export { type Call, MOST_SESSION_BYTES } from "./usage/reading.ts";
export { placeSessions, type SessionGlob } from "./usage/session-place.ts";
export { describeBase } from "./verification/describe-base.ts";
export {
  type FoundCommand,
  findVerifyCommands,
  type RepositoryFacts,
  verifyNotConfigured,
} from "./verification/found-commands.ts";
export type { RegistryFacts } from "./verification/registries.ts";
export { findFailedTail, type VerificationReport } from "./verification/report.ts";
export { pickTelling } from "./verification/telling-lines.ts";
export {
  type Verified,
  type VerifyPorts,
  verifyCandidate,
} from "./verification/verify-candidate.ts";
export {
  type CommandFacts,
  findShellSyntax,
  parseVerifyCommand,
} from "./verification/verify-command.ts";
export { encodeWrites, planWrites } from "./verification/writes.ts";
