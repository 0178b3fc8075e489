/** What a follower is told besides entries. */
export interface BeatStatus {
  readonly request_id: string;
  readonly phase: "QUEUED" | "THINKING" | "SEARCHING" | "WRITING" | "DONE";
  readonly tools_used: number;
  /** Whose words it carries. */
  readonly speaker: string;
  /** How it ended; null until DONE, and where it was refused. */
  readonly result: string | null;
  readonly code: string | null;
}

type Listener = (status: BeatStatus | null) => void;

/** Tells followers inside this process that something was committed, or how a beat is doing. Carries no text. */
export class Hub {
  readonly #listeners = new Map<string, Set<Listener>>();

  /** Calls `listener` until the result is called. */
  listen(worldId: string, listener: Listener): () => void {
    const known = this.#listeners.get(worldId) ?? new Set();
    this.#listeners.set(worldId, known);
    known.add(listener);
    return () => {
      known.delete(listener);
      if (known.size === 0) this.#listeners.delete(worldId);
    };
  }

  /** Something of this world was committed. */
  committed(worldId: string): void {
    this.#tell(worldId, null);
  }

  status(worldId: string, status: BeatStatus): void {
    this.#tell(worldId, status);
  }

  #tell(worldId: string, status: BeatStatus | null): void {
    for (const listener of this.#listeners.get(worldId) ?? []) listener(status);
  }
}
