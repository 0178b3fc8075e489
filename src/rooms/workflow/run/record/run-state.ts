import type { ReviewRecord } from "../../artifacts/review.ts";
import type { PatchPolicy } from "../../patch/patch-policy.ts";

export const RUN_FILE = "RUN.json";
export const RUN_VERSION = "verbatim-run-v1";

/** `unverified`: the gate accepts it, and nobody was asked to verify it. */
export const CANDIDATE_STATES = ["rejected", "accepted", "verify_failed", "verified", "unverified", "applied"] as const;
export type CandidateState = (typeof CANDIDATE_STATES)[number];

/** A patch that was judged under a plan. */
export interface CandidateRecord {
  readonly sha256: string;
  readonly plan_sha256: string;
  readonly state: CandidateState;
  readonly code?: string;
  /** Order of judging; names the folder under artifacts/iterations. */
  readonly iteration?: number;
}

type RunStatus = "running" | "blocked" | "pass" | "fail";

/** What a run waits for. */
interface BlockedFacts {
  readonly code: string;
  readonly message: string;
  readonly owner: string;
  readonly action: string;
  readonly target: string;
}

/** RUN.json: everything about a run that its artifacts do not say. */
export interface RunState {
  readonly schema_version: typeof RUN_VERSION;
  readonly run_id: string;
  readonly goal: string;
  readonly repo_slug: string;
  readonly repo_root: string;
  /** Identity of the repository; absent in runs that were made before repositories had one. */
  readonly repo_id?: string;
  readonly common_dir?: string | null;
  readonly base_commit: string;
  readonly base_tree: string;
  readonly status: RunStatus;
  readonly stop_reason: string | null;
  readonly blocked: BlockedFacts | null;
  readonly iterations: number;
  readonly patch_rejections: number;
  readonly candidates: readonly CandidateRecord[];
  readonly context_pack: {
    readonly file_request_sha256?: string;
    readonly failed_request_sha256?: string;
    readonly failed_code?: string;
  };
  readonly reviews: Readonly<Record<string, ReviewRecord>>;
  readonly artifacts: Readonly<Record<string, string>>;
  readonly policy: PatchPolicy;
  readonly in_progress: { readonly step: string; readonly iteration: number; readonly started_at: string } | null;
  readonly created_at: string;
  readonly updated_at: string;
  /** Only in direct runs. */
  readonly direct?: DirectFacts;
  /** The newest prompt for each target and the target's hash when it was written. */
  readonly prompts?: Readonly<Record<string, { readonly file: string; readonly target_sha256: string | null }>>;
  /** What each failed verification failed with, as a hash, oldest first. */
  readonly failures?: readonly string[];
}

/** What the command line of a direct run fixed for the whole run. */
export interface DirectFacts {
  /** Commands of the gate lite; null means the configured ones. */
  readonly verify: readonly (readonly string[])[] | null;
  readonly files: readonly string[];
  readonly leave_out: readonly string[];
  /** The policy of agents judges the change, so the plan forbids nothing by itself. */
  readonly policed?: false;
}

/** The part of RUN.json that decides what comes next. */
export type RunFacts = Pick<RunState, "status" | "stop_reason" | "candidates" | "context_pack" | "reviews">;
