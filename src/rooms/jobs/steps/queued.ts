/** An agent run as it is asked for; what it asks for is canonical JSON that only the flow of agents reads. */
export interface NewQueuedRun {
  readonly run_id: string;
  readonly request: string;
  readonly request_sha256: string;
  readonly goal: string;
  readonly repository_id: string;
  readonly base_commit: string;
  readonly needs: string;
  /** How often it may be started. */
  readonly tries: number;
  readonly asked_by: string;
}

/** How a run on a worker ended. */
export interface QueuedResult {
  readonly run_id: string;
  /** A state of agent runs, or `lost` when every start of it was lost with its worker. */
  readonly state: string;
  readonly reason: string | null;
  readonly worker: string;
  readonly files: number;
  readonly added: number;
  readonly deleted: number;
  readonly candidate: string | null;
  /** The change on top of the base, and the ref it lies on; null where there is none that could land. */
  readonly commit_id: string | null;
  readonly tree: string | null;
  readonly ref: string | null;
  /** The record of the run in the content store. */
  readonly package: string | null;
  readonly duration_ms: number;
}

/** A run that was asked for, and how it stands. */
export interface QueuedRow extends NewQueuedRun {
  readonly asked_ms: number;
  readonly starts: number;
  /** The worker of the newest start. */
  readonly worker: string | null;
  readonly result: QueuedResult | null;
}

/** A branch of ours that is to become part of another one, or to be removed. */
export interface NewLanding {
  readonly land_id: string;
  readonly kind: "job" | "run" | "remove";
  /** The job or run whose branch it is. */
  readonly subject: string;
  readonly repository_id: string;
  readonly ref: string;
  readonly source: string;
  /** Name of the branch that is moved; the ref itself where that is removed. */
  readonly onto: string;
  readonly asked_by: string;
}

export interface LandRow extends NewLanding {
  /** Commits that were recorded before they were pushed. */
  readonly intents: readonly string[];
  /** Null as long as nobody has ended it; a code where it was refused. */
  readonly result: {
    readonly commit_id: string | null;
    readonly code: string | null;
    readonly message: string | null;
    readonly worker: string;
  } | null;
}

export interface QueuedReader {
  /** The newest ones first. */
  runs(limit: number): Promise<QueuedRow[]>;
  run(runId: string): Promise<QueuedRow | null>;
  /** Ids that begin or end so. */
  findRuns(text: string): Promise<string[]>;
  landing(landId: string): Promise<LandRow | null>;
  /** How many runs stand where; those that have not ended are `open`. */
  tally(): Promise<{ readonly state: string; readonly n: number }[]>;
  /** Every branch of ours that the records know. */
  refs(): Promise<string[]>;
  /** What was asked about a job or a run, oldest first. */
  landingsOf(subject: string): Promise<LandRow[]>;
}

export interface QueuedWriter extends QueuedReader {
  addRun(run: NewQueuedRun): Promise<void>;
  /** The next start of a run; gives its number. */
  addStart(runId: string, worker: string): Promise<number>;
  addResult(result: QueuedResult): Promise<void>;
  addLanding(landing: NewLanding): Promise<void>;
  addLandIntent(landId: string, commit: string): Promise<void>;
  addLandResult(landId: string, result: NonNullable<LandRow["result"]>): Promise<void>;
}
