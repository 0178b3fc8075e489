import type { EffectIntent } from "./effect-state.ts";
import type { QueuedReader, QueuedWriter } from "./queued.ts";

/** A job as a worker got it from the queue. The number of the attempt is a fence: a later attempt makes this one void. */
export interface WorkItem {
  readonly queue: string;
  readonly id: string;
  readonly attempt: number;
  readonly job_id: string;
}

/** A repository of the workspace. */
export interface RepositoryRow {
  readonly id: string;
  readonly name: string;
  readonly remote: string;
  readonly default_branch: string;
  /** The first commits of its default branch when it was added, sorted. */
  readonly roots: readonly string[];
}

/** Where a job was sent, and the tree it works on. */
export interface DispatchRow {
  readonly job_id: string;
  readonly queue: string;
  readonly generation: number;
  readonly engine_id: string;
  /** Null for a job that only reads. */
  readonly repository_id: string | null;
  readonly base_commit: string | null;
  readonly base_tree: string | null;
  /** The branch of its effects; null before the first one. */
  readonly ref: string | null;
  readonly cancelled: boolean;
}

/** What is known when a job is sent. */
export type NewDispatch = Pick<DispatchRow, "job_id" | "queue" | "repository_id" | "base_commit" | "base_tree">;

/** Where a sent job stands with its queue. */
export interface JobStanding {
  /** Stalled: it used up its retries, and lies among the dead letters until somebody sends it again. */
  readonly at: "waiting" | "taken" | "stalled" | "lost" | "over";
  readonly attempt: number;
  /** What an attempt before this one ended with. */
  readonly code: string | null;
}

/** What a worker says of itself, every few seconds. */
export interface WorkerBeat {
  readonly name: string;
  readonly labels: readonly string[];
  readonly repositories: readonly string[];
  readonly slots: number;
  readonly busy: number;
  readonly version: string;
  readonly state: "ready" | "paused" | "draining";
  readonly reason: string | null;
}

/** A worker as others see it. */
export interface WorkerRow extends WorkerBeat {
  /** Milliseconds since it last said something, by the server's clock. */
  readonly silent_ms: number;
}

/** A token of the workspace; its hash is all there is of what is secret. */
export interface TokenRow {
  readonly token_sha256: string;
  readonly name: string;
  readonly role: "reader" | "reviewer" | "owner";
  readonly created_by: string;
  readonly expires_ms: number;
  readonly state: "good" | "expired" | "revoked";
}

/** How many things wait in a queue, and since when the oldest of them could be taken. */
export interface QueueRow {
  readonly queue: string;
  readonly ready: number;
  readonly active: number;
  readonly oldest_s: number;
}

export interface TeamReader {
  /** The queues of the workspace that have something in them, by name; dead letters are one of them. */
  queues(): Promise<QueueRow[]>;
  /** Agent runs that workers were asked for, and branches that are to be merged. */
  readonly queued: QueuedReader;
  /** Made new by a restore; part of every name made afterwards. */
  incarnation(): Promise<string>;
  repositories(): Promise<RepositoryRow[]>;
  dispatch(jobId: string): Promise<DispatchRow | null>;
  /** What effects of a job were about to do, in the order of its steps. */
  intents(jobId: string): Promise<EffectIntent[]>;
  standing(row: DispatchRow): Promise<JobStanding>;
  tokens(): Promise<TokenRow[]>;
  /** In the order of their names. */
  workers(): Promise<WorkerRow[]>;
}

/**
 * The port to the queue, inside a transaction of the records: what is sent is there when the transaction is, and what an
 * owner writes counts only while the attempt is still theirs.
 */
export interface TeamWriter extends TeamReader {
  readonly queued: QueuedWriter;
  /** Good for some days by the server's clock; a name that had a token which is over may have another. Until when; null when the name is taken. */
  addToken(row: Pick<TokenRow, "token_sha256" | "name" | "role" | "created_by">, days: number): Promise<number | null>;
  /** False when there is no good token of this name. */
  revokeToken(name: string): Promise<boolean>;
  addRepository(row: RepositoryRow): Promise<void>;
  addIntent(intent: EffectIntent): Promise<void>;
  setRef(jobId: string, ref: string): Promise<void>;
  /** Puts a new job into its queue. */
  send(job: NewDispatch): Promise<void>;
  /** Open jobs that no queue has any more, oldest first; a stalled one is somebody's to look at, and not lost. */
  lostJobs(): Promise<DispatchRow[]>;
  /** Says that a worker is there, and hears whether it is to end. Workers that were silent for long are forgotten. */
  beat(worker: WorkerBeat): Promise<{ readonly drain: boolean }>;
  /** Tells a worker to end when it is idle; false when there is none of this name. */
  drain(name: string): Promise<boolean>;
  forgetWorker(name: string): Promise<void>;
  /** Puts a job into its queue again, as the next generation; the row of the one before is taken out. */
  resend(job: DispatchRow): Promise<void>;
  /** Says that a job is to end, and takes it from whoever works on it. */
  cancel(job: DispatchRow): Promise<void>;
  /** Makes the attempt last longer; false when it is nobody's or another's now. */
  touch(item: WorkItem): Promise<boolean>;
  finish(item: WorkItem): Promise<boolean>;
  /** Gives a job back: at once, or after the queue's pause when something is wrong here. */
  release(item: WorkItem, code: string, when: "now" | "later"): Promise<boolean>;
}

/** The port to the queue outside of transactions. */
export interface Dispatch {
  /** Makes a queue that jobs are about to be sent to. */
  prepare(queue: string): Promise<void>;
  /** The next job of these queues; null when the signal was given. */
  next(queues: readonly string[], signal: AbortSignal): Promise<WorkItem | null>;
}

const R = /[0-9a-f]{12}$/;

/** Queue of a job: those that only read need no repository. */
export function queueOf(workspace: string, repositoryId: string | null, label: string): string {
  return repositoryId === null ? `read/${workspace}` : `effect/${R.exec(repositoryId)![0]}/${label}`;
}

/** Queue of agent runs. */
export function agentQueueOf(repositoryId: string, label: string): string {
  return `agent/${R.exec(repositoryId)![0]}/${label}`;
}

/** Queue of merges: one at a time for each branch. */
export function landQueueOf(repositoryId: string): string {
  return `land/${R.exec(repositoryId)![0]}`;
}
