/** What the room needs from outside. Each idea says in the `ports.ts` of its folder what it needs; this is the whole list. */
export type { AgentRunsReader, AgentRunsWanted, AgentRunsWriter, RunStore } from "./agent/ports.ts";
export type { ChangedPath, CommitFacts, History } from "./attest/ports.ts";
export type {
  ChangedPaths,
  ChangePatch,
  ChangePatchRequest,
  ChangeSide,
  PathChange,
} from "./candidate/ports.ts";
export type { CommitHook, CommitPoint, CommitRow, Commits } from "./commit/ports.ts";
export type { AgentRunRow } from "./contracts/rows.ts";
export type { AgentCommand, AgentCommandResult, AgentRunner } from "./dispatch/ports.ts";
export type { FileToPut, LandingFiles, LineRange, TextMerge, TreeEntry, TreeFiles } from "./landing/ports.ts";
export type { FileText, FoundFile, RepoReader } from "./librarian/ports.ts";
export type { BaseTree, GitReply, PatchChecker, TargetType } from "./patch/ports.ts";
export type {
  CopyChange,
  GateCommand,
  GateCommandResult,
  GateDone,
  GateScript,
  GateSession,
  GateWork,
  GitWork,
  Interrupts,
  IsolatedCopy,
  Isolation,
  Isolations,
  LockFacts,
  MovedOn,
  PreImage,
  RepoFiles,
  RepoIdentity,
  RepoIdentityPort,
  RunFolder,
  RunFolders,
  RunLock,
  RunOwner,
  TreeState,
  Zipper,
} from "./run/ports.ts";
export type {
  Baselines,
  VerificationEnd,
  VerificationPlace,
  VerificationScript,
  VerificationSession,
  ViewWrite,
  WrittenPath,
} from "./verification/ports.ts";
