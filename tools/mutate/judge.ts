import type { ThrowAwayCopy } from "./bench-copy.ts";
import { type Reached, testsThatReach } from "./reached.ts";

export type Verdict = "killed" | "survived";

export type Log = (line: string) => void;

/** A test file that passes without a mistake: how long it takes, and which mistakes it comes past. */
interface Measured {
  readonly ms: number;
  readonly reached: Reached;
}

const SLACK_MS = 12_000;

/** Asks tests about mistakes, and of a test file only the tests that come past the mistake. */
export class Judge {
  readonly #copy: ThrowAwayCopy;
  readonly #mostMs: number;
  readonly #log: Log;
  /** Asked once for all files; null where the test file does not pass. */
  readonly #measured = new Map<string, Measured | null>();
  /** Whether some tests of a file pass without the others, which may prepare something for them. */
  readonly #standAlone = new Map<string, boolean>();

  constructor(copy: ThrowAwayCopy, mostMs: number, log: Log) {
    this.#copy = copy;
    this.#mostMs = mostMs;
    this.#log = log;
  }

  /** Asks one test file after another, the one that noticed the last mistake of this source first; null where there is none. */
  async judge(
    { tests, noticed }: { readonly tests: readonly string[]; readonly noticed: string[] },
    mistake: number,
  ): Promise<Verdict | null> {
    let verdict: Verdict | null = null;
    for (const test of new Set([...noticed, ...tests])) {
      const measured = await this.#measure(test);
      if (measured === null) continue;
      verdict = "survived";
      if (!(await this.#notices(test, measured, mistake))) continue;
      noticed.splice(0, noticed.length, ...new Set([test, ...noticed]));
      return "killed";
    }
    return verdict;
  }

  async #measure(test: string): Promise<Measured | null> {
    const before = this.#measured.get(test);
    if (before !== undefined) return before;
    const one = await this.#copy.run(test, 0, this.#mostMs);
    const found = one === null || one.failed ? null : { ms: one.ms, reached: one.reached! };
    this.#measured.set(test, found);
    if (found === null) {
      const why = one === null ? `it does not end in ${this.#mostMs / 1000} seconds, or cannot be bundled` : one.why;
      this.#log(`left out: ${test} does not pass here without a mistake (${why})`);
    }
    return found;
  }

  async #notices(test: string, { ms, reached }: Measured, mistake: number): Promise<boolean> {
    const only = testsThatReach(reached, mistake);
    if (only?.length === 0) return false;
    const usualMs = only === null ? ms : only.reduce((sum, i) => sum + reached.tests[i]!.ms, 0);
    const mostMs = usualMs * 4 + SLACK_MS;
    if (!(await this.#fails(test, mistake, mostMs, only))) return false;
    if (only === null || (await this.#standsAlone(test, only, mostMs))) return true;
    return this.#fails(test, mistake, ms * 4 + SLACK_MS, null);
  }

  /**
   * Tests that never end have noticed. That is believed only where the same tests end in the same time without the mistake;
   * otherwise the machine is slow, and they are asked again with more time.
   */
  async #fails(test: string, mistake: number, mostMs: number, only: readonly number[] | null): Promise<boolean> {
    const answer = await this.#copy.run(test, mistake, mostMs, only);
    if (answer !== null) return answer.failed;
    if (mistake === 0) return true;
    const usual = await this.#copy.run(test, 0, mostMs, only);
    if (usual !== null) {
      this.#log(`noticed by its end: ${test} did not end in ${Math.round(mostMs / 1000)} seconds`);
      return true;
    }
    const more = await this.#copy.run(test, mistake, mostMs * 4, only);
    if (more === null) this.#log(`noticed by its end: ${test} did not end in ${Math.round(mostMs / 250)} seconds`);
    return more === null || more.failed;
  }

  async #standsAlone(test: string, only: readonly number[], mostMs: number): Promise<boolean> {
    const key = `${test}:${only.join(",")}`;
    const known = this.#standAlone.get(key) ?? !(await this.#fails(test, 0, mostMs, only));
    this.#standAlone.set(key, known);
    return known;
  }
}
