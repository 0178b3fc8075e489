/** Which mistakes a test file comes past. */
export interface Reached {
  /** While it is loaded or its groups are prepared: these concern every test of the file. */
  readonly always: readonly number[];
  /** For each test, in the order of the file. */
  readonly tests: readonly ReachedByTest[];
}

interface ReachedByTest {
  readonly mistakes: readonly number[];
  readonly ms: number;
}

const MOST_MISTAKES = 1 << 17;

/** Notes which mistakes are come past, and by which test. */
export class ReachRecorder {
  // Asked in the innermost loops, so it is one write; whose it was is sorted out between tests.
  readonly #passed = new Uint8Array(MOST_MISTAKES);
  readonly #always = new Set<number>();
  #tests = new Map<unknown, Set<number>>();
  readonly #running = new Set<unknown>();
  readonly #ms = new Map<unknown, number>();

  /** Asked by the planted code; no mistake is made. */
  readonly pass = (number: number): boolean => {
    this.#passed[number] = 1;
    return false;
  };

  collect(tests: readonly unknown[]): void {
    this.#tests = new Map(tests.map((test) => [test, new Set()]));
  }

  begin(test: unknown): void {
    this.#note();
    this.#running.add(test);
    this.#ms.set(test, -performance.now());
  }

  end(test: unknown): void {
    this.#note();
    this.#running.delete(test);
    this.#ms.set(test, this.#ms.get(test)! + performance.now());
  }

  reached(): Reached {
    this.#note();
    const tests = [...this.#tests].map(([test, passed]) => ({ mistakes: [...passed], ms: this.#ms.get(test) ?? 0 }));
    return { always: [...this.#always], tests };
  }

  /** Tests that run beside each other cannot be told apart. */
  #note(): void {
    const [only] = this.#running;
    const owner = (this.#running.size === 1 ? this.#tests.get(only) : undefined) ?? this.#always;
    for (let at = this.#passed.indexOf(1); at !== -1; at = this.#passed.indexOf(1, at + 1)) owner.add(at);
    this.#passed.fill(0);
  }
}

/** The tests of a file that come past a mistake, by their place in it; null for all. */
export function testsThatReach({ always, tests }: Reached, mistake: number): readonly number[] | null {
  if (always.includes(mistake)) return null;
  return tests.flatMap(({ mistakes }, i) => (mistakes.includes(mistake) ? [i] : []));
}
