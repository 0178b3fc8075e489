import type { Pauses, WorkerBeat } from "../../../rooms/jobs/index.ts";
import type { AppStore } from "../store/store.ts";

const BEAT_MS = 3_000;

/** What a worker is as long as it runs. */
type About = Pick<WorkerBeat, "name" | "version" | "slots" | "labels" | "repositories">;

interface MembershipOptions {
  readonly store: AppStore;
  readonly pauses: Pauses;
  readonly about: About;
  /** The incarnation of the database that this worker started with. */
  readonly incarnation: string;
  /** Given when the database was restored: nothing of this worker counts any more. */
  readonly stop: AbortController;
}

/** The place of a worker in its team: others see how it stands, and it hears that it is to end. */
export class Membership {
  readonly #options: MembershipOptions;
  readonly #drain = new AbortController();
  readonly #reasons = new Set<string>();
  #busy = 0;
  #beating: Promise<void> | null = null;
  #isRestored = false;

  constructor(options: MembershipOptions) {
    this.#options = options;
  }

  /** Given when somebody asked for the worker's end: it takes no new job. */
  get draining(): AbortSignal {
    return this.#drain.signal;
  }

  /** The database is another one by now than this worker began with. */
  get isRestored(): boolean {
    return this.#isRestored;
  }

  /** Is there as long as `fn` runs. */
  async hold<T>(fn: () => Promise<T>): Promise<T> {
    const { store, pauses, about } = this.#options;
    const end = pauses.every(BEAT_MS, () => this.#say());
    this.#say();
    try {
      // Others see it before it takes its first job; where the database is away again, a later beat says it.
      await this.#beating;
      return await fn();
    } finally {
      end();
      await this.#beating;
      // A database that is away forgets it by itself; how the work ended matters more.
      await store.transact(({ team }) => team!.forgetWorker(about.name)).catch(() => undefined);
    }
  }

  async busy<T>(fn: () => Promise<T>): Promise<T> {
    this.#busy++;
    try {
      return await fn();
    } finally {
      this.#busy--;
    }
  }

  /** Says why no job is taken; true when that is new. */
  pause(reason: string): boolean {
    const isNew = !this.#reasons.has(reason);
    this.#reasons.add(reason);
    if (isNew) this.#say();
    return isNew;
  }

  resume(reason: string): void {
    if (this.#reasons.delete(reason)) this.#say();
  }

  #say(): void {
    // A beat that is lost is followed by another; the loop that takes jobs says what is wrong with the store.
    this.#beating ??= this.#beat()
      .catch(() => undefined)
      .finally(() => {
        this.#beating = null;
      });
  }

  async #beat(): Promise<void> {
    const { store, about, incarnation, stop } = this.#options;
    const { name, version, slots, labels, repositories } = about;
    const reason = [...this.#reasons].toSorted((a, b) => (a < b ? -1 : 1))[0] ?? null;
    const state = this.#drain.signal.aborted ? "draining" : reason === null ? "ready" : "paused";
    const beat = { name, version, slots, labels, repositories, busy: this.#busy, state, reason } as const;
    const answer = await store.transact(async ({ team }) => ({
      ...(await team!.beat(beat)),
      incarnation: await team!.incarnation(),
    }));
    if (answer.incarnation !== incarnation) {
      this.#isRestored = true;
      stop.abort();
    }
    if (answer.drain) this.#drain.abort();
  }
}
