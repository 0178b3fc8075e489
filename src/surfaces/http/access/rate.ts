import { VerbatimError } from "../../../core/errors/index.ts";

interface Bucket {
  left: number;
  at: number;
}

const KEEP = 10_000;

/** So many requests a second for each caller, double at once. */
export class RateLimit {
  readonly #perSecond: number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  /** Counts a request; RATE_LIMITED with the seconds to wait when there were too many. */
  take(key: string | null, now: number = performance.now()): void {
    if (key === null) return;
    const most = this.#perSecond * 2;
    const bucket = this.#buckets.get(key) ?? { left: most, at: now };
    bucket.left = Math.min(most, bucket.left + ((now - bucket.at) / 1000) * this.#perSecond);
    bucket.at = now;
    if (this.#buckets.size >= KEEP) this.#buckets.clear();
    this.#buckets.set(key, bucket);
    if (bucket.left < 1) {
      const wait = Math.ceil((1 - bucket.left) / this.#perSecond);
      throw new VerbatimError("RATE_LIMITED", { details: { retry_after_s: Math.max(wait, 1) } });
    }
    bucket.left--;
  }
}
