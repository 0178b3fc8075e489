import type { Verified } from "../../../rooms/workflow/index.ts";

/** So many at a time, in the order in which they came. */
export class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(places: number) {
    this.#free = places;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#free--;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}

/** What the members of a race share: turns, so that verifications do not slow each other down, and what was verified. */
export class RaceTurns {
  readonly #verifications: Turns;
  readonly #verified = new Map<string, Promise<Verified>>();

  constructor(verifyJobs: number) {
    this.#verifications = new Turns(verifyJobs);
  }

  /** Two members with the same candidate on the same base are verified once. One that broke off counts for nobody else. */
  async verify(candidate: string, work: () => Promise<Verified>): Promise<Verified> {
    const known = this.#verified.get(candidate);
    if (known !== undefined) {
      const verified = await known.catch(() => null);
      if (verified !== null) return verified;
    }
    const begun = this.#verifications.run(work);
    this.#verified.set(candidate, begun);
    return await begun;
  }
}
