import type { JsonObject } from "../../../core/canonical/index.ts";

/** A run that was asked of the workers of a team. */
export interface QueuedRun {
  readonly run_id: string;
  readonly goal: string;
  readonly repository: string;
  readonly base_commit: string;
  readonly needs: string;
  readonly asked_by: string;
  readonly asked_ms: number;
  /** `queued`, `working`, `stalled`, or the state in which it ended; `lost` when every start was lost with its worker. */
  readonly state: string;
  readonly reason: string | null;
  readonly worker: string | null;
  readonly starts: number;
  readonly tries: number;
  readonly ref: string | null;
  readonly commit: string | null;
  readonly files: number;
  readonly added: number;
  readonly deleted: number;
  readonly duration_ms: number | null;
}

/** Where a run is to work. */
interface QueuePlace {
  readonly repository: string | undefined;
  /** The commit it begins from; undefined: HEAD of this checkout, or the tip of the default branch where there is none. */
  readonly at: string | undefined;
  readonly needs: string;
  readonly tries: number;
}

/** What became of a merge that was asked for. */
export interface Landed {
  readonly land_id: string;
  readonly state: "queued" | "landed" | "refused";
  readonly commit: string | null;
  readonly code: string | null;
  readonly message: string | null;
}

/** The queue of a team, for whoever asks for runs and looks at them. */
export interface QueuePorts {
  /** TREE_DIRTY, BASE_NOT_PUSHED, REPOSITORY_UNKNOWN, REPOSITORY_MISMATCH. */
  ask(request: JsonObject, goal: string, place: QueuePlace): Promise<QueuedRun>;
  list(limit: number): Promise<readonly QueuedRun[]>;
  /** The run of a name; null when there is none. RUN_AMBIGUOUS. */
  find(name: string): Promise<QueuedRun | null>;
  /** The record of a run that has ended. RUN_QUEUED as long as it has not. */
  fetch(run: QueuedRun): Promise<Uint8Array>;
  /** RUN_BASE_MISSING when this checkout lacks the commit, REPOSITORY_MISMATCH when it is of another repository. */
  requireHere(run: QueuedRun): Promise<void>;
  /** Asks for a merge and waits for it as long as the signal is not given. NOTHING_TO_LAND. */
  land(run: QueuedRun, onto: string, stop: AbortSignal): Promise<Landed>;
  /** Asks for the end of the branch of a run. */
  removeBranch(run: QueuedRun): Promise<void>;
}
