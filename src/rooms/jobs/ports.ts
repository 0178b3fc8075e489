import type { JsonObject } from "../../core/canonical/index.ts";
import type { RowOf } from "../../core/columns.ts";
import type { ReadTransaction, Store, WriteTransaction } from "../../core/ports.ts";
import type { HeldStep, JobFacts, JobRow, LEASE, ReceiptRow, StepRow } from "./contracts/rows.ts";
import type { TeamReader, TeamWriter } from "./steps/dispatch.ts";
import type { ClaimView, StepStatus } from "./steps/lease.ts";

// Adapters know the room by its ports and contracts alone.
export type { BundleSink } from "./bundle/bundle-artifacts.ts";
export type { BundleFiles, FileFacts, ManifestRead } from "./bundle/bundle-files.ts";
export type { Candidate, HeldStep, JobFacts, JobRow, ReceiptRow, StepRow } from "./contracts/rows.ts";
export type {
  Dispatch,
  DispatchRow,
  JobStanding,
  NewDispatch,
  QueueRow,
  RepositoryRow,
  TeamReader,
  TeamWriter,
  TokenRow,
  WorkerBeat,
  WorkerRow,
  WorkItem,
} from "./steps/dispatch.ts";
export type {
  EffectIntent,
  EffectRequest,
  EffectsPort,
} from "./steps/effect-state.ts";
export type { ClaimView } from "./steps/lease.ts";
export type {
  LandRow,
  NewLanding,
  NewQueuedRun,
  QueuedReader,
  QueuedResult,
  QueuedRow,
  QueuedWriter,
} from "./steps/queued.ts";

/** A job as planning makes it. */
export type NewJob = Omit<JobRow, "number" | "step_count" | "intent" | "breach_ordinal">;

export type NewStep = Pick<StepRow, "step" | "resolved">;

export type StepCounts = Readonly<Record<StepStatus, number>>;

/** The tables of jobs, steps and receipts. Jobs and receipts are never changed; steps only as the lease rules say. */
export interface JobsReader {
  job(jobId: string): Promise<JobRow | null>;
  facts(jobId: string): Promise<JobFacts | null>;
  /** Jobs created after the one with this number, in order of creation. */
  jobsAfter(number: number, limit: number): Promise<JobFacts[]>;
  /** Jobs that may still have something to run, oldest first. Cost does not grow with finished jobs. */
  openJobsAfter(number: number, limit: number): Promise<JobFacts[]>;
  /** In order of their ordinals. */
  steps(jobId: string): Promise<StepRow[]>;
  step(jobId: string, ordinal: number): Promise<StepRow | null>;
  /** The lowest steps that nobody has claimed yet. */
  pendingSteps(jobId: string, limit: number): Promise<StepRow[]>;
  countSteps(jobId: string): Promise<StepCounts>;
  /** In order of their ordinals. */
  receipts(jobId: string): Promise<ReceiptRow[]>;
  /** The receipt with this hash. Cost: grows with the number of receipts. */
  receipt(receiptHash: string): Promise<(ReceiptRow & { readonly job_id: string }) | null>;
  /** Which of these step ids exist, in whatever job. */
  findStepIds(stepIds: readonly string[]): Promise<string[]>;
}

/** Where a step stands: its job and ordinal. */
export interface StepPlace {
  readonly job_id: string;
  readonly ordinal: number;
}

/** What a claim or a renewal writes: all of it, and when. */
export interface NewLease extends StepPlace, Held<RowOf<typeof LEASE>> {
  /** Time of the store's clock, as a view gave it. */
  readonly now: number;
}

type Held<T> = { readonly [K in keyof T]: NonNullable<T[K]> };

/** How a step ends, and the receipt that says so: canonical text and its hash. */
export interface Settlement extends StepPlace {
  readonly step_id: string;
  readonly status: "SUCCESS" | "FAILURE";
  readonly receipt: string;
  readonly receipt_hash: string;
  readonly now: number;
}

/** What a change of a step is decided on. */
export interface ChangeView {
  readonly step: HeldStep;
  /** All steps before it are committed. */
  readonly ready: boolean;
  /** A step of the job failed. */
  readonly failed: boolean;
  /** Milliseconds of the store's clock: this machine's for a file, the server's for a server. */
  readonly now: number;
}

/**
 * Writing them. The database refuses every transition the rules do not have, whoever asks for it.
 * The cost of each call but `insertJob` does not grow with the number of finished steps.
 */
export interface JobsWriter extends JobsReader {
  /** Holds a job's stream until the transaction ends: whoever wants to change the job meanwhile waits. */
  hold(stream: string): Promise<void>;
  insertJob(job: NewJob, steps: readonly NewStep[]): Promise<void>;
  /** What a claim is decided on; its candidates are held until the transaction ends, those held by others left out. */
  viewForClaim(jobId: string): Promise<ClaimView & { readonly now: number }>;
  /** What a change is decided on; the step is held until the transaction ends. Null when there is none. */
  viewForChange(place: StepPlace): Promise<ChangeView | null>;
  /** To LEASED: a claim with the next token, or a renewal with the same one. */
  lease(lease: NewLease): Promise<StepRow>;
  /** Writes the receipt and ends the step as it says. */
  settle(settlement: Settlement): Promise<void>;
}

/** The store as this room sees it. */
export type JobsStore = Store<
  ReadTransaction & { readonly jobs: JobsReader; readonly team?: TeamReader | null },
  WriteTransaction & { readonly jobs: JobsWriter; readonly team?: TeamWriter | null }
>;

/** A slice of the corpus as it is now. */
interface CorpusCut {
  /** The effective slice. */
  readonly slice: string;
  readonly section_id: string;
  readonly file_path: string;
  readonly bytes: Uint8Array;
  readonly content_hash: string;
}

/** The section that a symbol means as a whole. */
interface CorpusTarget {
  readonly section_id: string;
  readonly file_path: string;
  /** Its text with line ends folded, checked against the index. */
  read(): string;
}

/** Index and symbols in one state. Errors are those of the context room's resolution. */
export interface CorpusView {
  /** What kind of target a symbol has; SYMBOL_UNKNOWN with the nearest ids when the registry does not have it. */
  targetType(symbolId: string): Promise<"SECTION" | "FILE" | "HEADING">;
  /** Resolves a symbol or section id and cuts a slice; a symbol has its own when none is asked for. */
  cut(ref: string, slice: string | undefined): Promise<CorpusCut>;
  open(symbolId: string): Promise<CorpusTarget>;
}

/** The context room, as planning sees it. */
export interface Corpus {
  /** `fn` sees one state of index and symbols, and must not use the store. */
  look<T>(fn: (view: CorpusView) => Promise<T>): Promise<T>;
}

/** A failure that a step's receipt can carry: values only. */
export interface StepFailure {
  readonly code: string;
  readonly details: JsonObject;
}

/** What a patch would do: hashes are of raw bytes, null where there is no file. */
export interface PatchEffect {
  /** Every path the patch touches. */
  readonly files: readonly string[];
  readonly base_sha256: string | null;
  readonly result_sha256: string | null;
}

/** The workflow room's patch gate, for WRITE steps. */
export interface PatchPort {
  /** What the gate says with the configured policy; `file_path` is the file whose hashes are wanted. Touches nothing. */
  judge(patch: string, file_path: string): Promise<PatchEffect | { readonly refused: StepFailure }>;
  /** SHA-256 of the file's raw bytes right now; null when it is absent. */
  fingerprint(file_path: string): Promise<string | null>;
  /**
   * Replaces the file atomically when it has the base hash; does nothing when it has the result hash already;
   * anything else is WRITE_STATE_UNKNOWN and the file is left alone.
   */
  apply(patch: string, file_path: string, effect: PatchEffect): Promise<void>;
  /** Brings the index up to date for a file. What is wrong with the sources is told to the user, not thrown. */
  refresh(file_path: string): Promise<void>;
}

export interface ExecuteRequest {
  readonly jobspec: string;
  /** Takes the place of the JobSpec's own run id. */
  readonly run_id: string;
  /** Ids of attempts that may have crashed; they are recovered before this one starts. */
  readonly earlier: readonly string[];
  /** Aborted when the worker lost its lease. */
  readonly signal: AbortSignal;
}

/** The catalytic room, for EXECUTE steps. */
export interface ExecutePort {
  /** Whether a text is a JobSpec. */
  isJobSpec(text: string): boolean;
  /** Runs it and verifies its proof. Null when the signal ended it: everything is put back, and nothing is said. */
  run(request: ExecuteRequest): Promise<{ readonly proof_hash: string } | { readonly refused: StepFailure } | null>;
}

/** Waiting for steps to change. */
export interface Pauses {
  /** Resolves after the time, or earlier when steps may have changed or the signal was given. */
  pause(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** Calls `fn` again and again; stops when the result is called. */
  every(milliseconds: number, fn: () => void): () => void;
  /** Ends the pauses of this process: steps have changed. */
  wake(): void;
}
