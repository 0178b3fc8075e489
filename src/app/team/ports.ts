import type { LogLevel } from "./log.ts";
import type { TeamFigures } from "./metrics.ts";

/** A workspace as it was made or found, and the logins of the database that work in it. */
interface AddedWorkspace {
  readonly where: string;
  readonly id: string;
  readonly name: string;
  readonly existing: boolean;
  readonly logins: readonly string[];
}

/** A repository of the workspace. */
interface Repository {
  readonly id: string;
  readonly name: string;
  readonly remote: string;
  readonly default_branch: string;
  /** The first commits of its default branch: they tell it from every other one. */
  readonly roots: readonly string[];
}

/** What a worker takes: jobs that read, jobs that write, agent runs, merges into branches. */
export const WORK_KINDS = ["read", "effect", "agent", "land"] as const;
type WorkKind = (typeof WORK_KINDS)[number];

export interface WorkerInput {
  /** Names; all of the workspace when empty. */
  readonly repositories: readonly string[];
  readonly labels: readonly string[];
  readonly slots: number;
  readonly once: boolean;
  readonly grace_ms: number;
  /** Fewer bytes free where it works, and it takes no job. */
  readonly min_free: number;
  /** How long the database may be away when it starts. */
  readonly wait_ms: number;
  readonly kinds: readonly WorkKind[];
  /** Where it says how it is; null: nowhere. */
  readonly health: string | null;
  /** Variables of the worker that agents get, and hosts they may reach besides those of their profile. */
  readonly agent_env: readonly string[];
  readonly agent_hosts: readonly string[];
  /** How much it writes down; what the environment says without it. */
  readonly log_level?: LogLevel | undefined;
}

export interface WorkerReport {
  readonly worker: string;
  readonly jobs: number;
}

/** A worker of the team; one that said nothing for a while is gone. */
interface ListedWorker {
  readonly name: string;
  readonly state: "ready" | "paused" | "draining" | "gone";
  readonly reason: string | null;
  readonly labels: readonly string[];
  readonly repositories: readonly string[];
  readonly slots: number;
  readonly busy: number;
  readonly version: string;
  readonly silent_ms: number;
}

type Role = "reader" | "reviewer" | "owner";

/** A token as people see it. */
interface ListedToken {
  readonly name: string;
  readonly role: Role;
  readonly state: "good" | "expired" | "revoked";
  readonly created_by: string;
  readonly expires_ms: number;
}

export interface TeamPorts {
  /** TOKEN_EXISTS. */
  addToken(name: string, role: Role, days: number): Promise<{ readonly token: string; readonly expires_ms: number }>;
  listTokens(): Promise<readonly ListedToken[]>;
  revokeToken(name: string): Promise<boolean>;
  /** Whose token a hash belongs to; null when it is nobody's or not good any more, and where the store is a file. */
  findToken(hash: string): Promise<{ readonly name: string; readonly role: Role } | null>;
  /** Fetches the repository and keeps what tells it from others. REPOSITORY_EXISTS, REMOTE_INVALID, REMOTE_UNAVAILABLE. */
  addRepository(name: string, remote: string, branch: string): Promise<Repository & { readonly existing: boolean }>;
  listRepositories(): Promise<readonly Repository[]>;
  work(input: WorkerInput): Promise<WorkerReport>;
  figures(): Promise<TeamFigures>;
  listWorkers(): Promise<readonly ListedWorker[]>;
  /** WORKER_UNKNOWN. */
  drainWorker(name: string): Promise<void>;
  /** DATABASE_NOT_SET where the store is a file. */
  addWorkspace(name: string, logins: readonly string[]): Promise<AddedWorkspace>;
}
