import type { ResolvedWorkflow } from "../../../core/contracts/config/index.ts";
import type { ChatModels } from "../../../core/models.ts";
import type { Clock, LocalFiles, Progress, Random, SyncCrypto } from "../../../core/ports.ts";
import type { Platform } from "../patch/patch-names.ts";
import type { PatchPolicy } from "../patch/patch-policy.ts";
import type {
  AgentRunner,
  Commits,
  GitWork,
  History,
  Interrupts,
  Isolations,
  LandingFiles,
  PatchChecker,
  RepoFiles,
  RepoIdentityPort,
  RepoReader,
  RunFolder,
  RunFolders,
  RunStore,
  TextMerge,
  TreeFiles,
  Zipper,
} from "../ports.ts";

/** Everything the workflow room needs from outside. */
export interface WorkflowPorts {
  readonly config: ResolvedWorkflow;
  /** Policy of direct runs. */
  readonly agentPolicy: PatchPolicy;
  readonly repoRoot: string;
  readonly repoName: string;
  readonly identity: RepoIdentityPort;
  readonly platform: Platform;
  readonly git: GitWork;
  /** The gate of another repository, for `patch check --repo`. */
  readonly checkerOf: (root: string) => PatchChecker;
  readonly reader: RepoReader;
  readonly repoFiles: RepoFiles;
  readonly runs: RunFolders;
  readonly zipper: Zipper;
  readonly isolations: Isolations;
  /** What landing needs to read, to merge, and to write the working tree. */
  readonly landing: { readonly files: LandingFiles; readonly trees: TreeFiles; readonly merge: TextMerge };
  /** What commits of the user's repository are made with. */
  readonly commits: Commits;
  /** Commits and notes of the repository, as their objects say them. */
  readonly history: History;
  /** Keeps everyone else from working on the tree while it changes: DOMAIN_BUSY. Gives back what lets go of it. */
  readonly lockTree: (runId: string) => Promise<() => void>;
  readonly agents: AgentRunner;
  /** Whether no process works on an agent run that is at work by its own word. */
  readonly isAgentGone: (run: Pick<RunFolder, "read">) => boolean;
  readonly models: ChatModels;
  readonly interrupts: Interrupts;
  readonly store: RunStore;
  readonly crypto: SyncCrypto;
  readonly clock: Clock;
  readonly random: Random;
  readonly progress: Progress;
  /** Lets everybody else have a turn. */
  readonly pause: () => Promise<unknown>;
  /** Throws when the surface cannot carry an answer; asked before anything is recorded. */
  assertDeliverable?(output: unknown): void;
  readonly files: LocalFiles;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly actor: string;
}
