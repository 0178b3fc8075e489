/** Gives out a fixed number of places, first come first served. */
export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];
  readonly #idle: (() => void)[] = [];
  readonly #places: number;

  constructor(places: number) {
    this.#places = places;
    this.#free = places;
  }

  /** Waits for a place. With one free and nobody waiting it is there at once, without a promise. */
  take(): Promise<void> | void {
    if (this.#free > 0) {
      this.#free--;
      return undefined;
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Gives a place back: to whoever has waited longest. */
  give(): void {
    const next = this.#waiting.shift();
    if (next !== undefined) {
      next();
      return;
    }
    this.#free++;
    if (this.#free === this.#places) for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** Resolves when every place is free. */
  async idle(): Promise<void> {
    if (this.#free < this.#places) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }
}
