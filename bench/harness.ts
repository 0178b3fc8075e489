/** What a ratio must reach: our rate at least this part of the baseline's, or our time at most this multiple of it. */
export type Goal =
  | { readonly kind: "rate"; readonly atLeast: number }
  | {
      readonly kind: "time";
      readonly atMost: number;
      /** So many milliseconds are enough, whatever the baseline takes. */
      readonly orMs?: number;
    };

/** What a side gives back that knows better than the clock around it how long it took. */
export interface Took {
  readonly took_ms: number;
}

/** What a side gives back whose cost is not time; the figures of such a bench are bytes. */
export interface Counted {
  readonly bytes: number;
}

/** The same work done by us and by the floor, on input that is already prepared. */
export interface Pair {
  /** Gets ready for one round of ours; not part of its time. */
  before?(): unknown;
  ours(): unknown;
  /** The floor, or the milliseconds of a goal that is a time: those need not be waited for. */
  readonly baseline: number | (() => unknown);
  /** Milliseconds that we may take more than the floor; added to each of its times, because nobody need wait for them. */
  readonly allowed_ms?: number;
  close?(): unknown;
}

/** One benchmark. The last size is the one the goal is about; a smaller one first shows how the cost grows. */
export interface Bench {
  readonly name: string;
  readonly what: string;
  readonly baseline: string;
  readonly corpus: string;
  readonly sizes: readonly number[];
  readonly goal: Goal;
  /** What the figures are, where they are no times. */
  readonly unit?: "bytes";
  /** Our cost may not grow faster than this power of the size; MAX_GROWTH without it. */
  readonly maxGrowth?: number;
  /** At most so many rounds, where one takes very long. */
  readonly maxRounds?: number;
  /** Judged at the 95th percentile of so many rounds on each side instead of at the minima. */
  readonly tailRounds?: number;
  /** Benches with the same name here run in one process: preparing their corpus takes longer than they do. */
  readonly shares?: string;
  /** Only measured by who asks for its group or its name, so that a run of everything stays short. */
  readonly onAsking?: boolean;
  /** Why this bench cannot run here, or null. */
  unavailable?(): string | null;
  prepare(size: number): Promise<Pair>;
}

export interface Sample {
  readonly size: number;
  readonly rounds: number;
  readonly ours_ms: number;
  readonly baseline_ms: number;
  /** Where the times above are of the 95th percentile: the minima of the same rounds. */
  readonly minima?: { readonly ours_ms: number; readonly baseline_ms: number };
  /** Baseline time by our time for a rate goal, our time by baseline time for a time goal. */
  readonly ratio: number;
}

export interface Result {
  readonly name: string;
  readonly what: string;
  readonly baseline: string;
  readonly corpus: string;
  readonly goal: string;
  readonly unit?: "bytes";
  readonly samples: readonly Sample[];
  /** k of our cost ~ size^k between the first and the last size; null with one size. */
  readonly growth: number | null;
  readonly met: boolean;
}

export interface Effort {
  readonly minRounds: number;
  readonly maxRounds: number;
  readonly budgetMs: number;
}

/** Our cost may not grow faster than this power of the size, unless a bench says otherwise. */
export const MAX_GROWTH = 1.2;

/** Runs a bench at all its sizes. */
export async function runBench(bench: Bench, asked: Effort): Promise<Result> {
  const maxRounds = Math.min(asked.maxRounds, bench.maxRounds ?? asked.maxRounds);
  const plain = { ...asked, maxRounds, minRounds: Math.min(asked.minRounds, maxRounds) };
  const isTail = bench.tailRounds !== undefined && asked.budgetMs > 0;
  const effort = isTail ? { minRounds: bench.tailRounds, maxRounds: bench.tailRounds, budgetMs: 0 } : plain;
  const samples: Sample[] = [];
  for (const size of bench.sizes) {
    const pair = await bench.prepare(size);
    try {
      // A smaller size has more rounds in half the time.
      const budgetMs = size === bench.sizes.at(-1) ? effort.budgetMs : effort.budgetMs / 2;
      const times = await measure(pair, { ...effort, budgetMs }, bench.tailRounds === undefined ? 0 : TAIL);
      samples.push({ size, ...times, ratio: ratioOf(bench.goal, times.ours_ms, times.baseline_ms) });
    } finally {
      await pair.close?.();
    }
  }
  const { name, what, baseline, corpus, goal } = bench;
  const growth = growthOf(samples);
  const met = isMet(goal, samples, growth, bench.maxGrowth);
  const unit = bench.unit === undefined ? {} : { unit: bench.unit };
  return { name, what, baseline, corpus, goal: formatGoal(goal), ...unit, samples, growth, met };
}

const TAIL = 0.95;

/**
 * A quantile of interleaved rounds, 0 for the minima: who goes first changes every round, and one round before them is
 * not counted.
 */
export async function measure(pair: Pair, effort: Effort, at = 0): Promise<Omit<Sample, "size" | "ratio">> {
  const given = pair.baseline;
  const allowed = pair.allowed_ms ?? 0;
  const takeBaseline = typeof given === "number" ? () => given : async () => allowed + (await time(given));
  const takeOurs = async () => {
    await pair.before?.();
    return await time(() => pair.ours());
  };
  await takeOurs();
  await takeBaseline();
  const ours: number[] = [];
  const baseline: number[] = [];
  const started = performance.now();
  let rounds = 0;
  while (rounds < effort.minRounds || (rounds < effort.maxRounds && performance.now() - started < effort.budgetMs)) {
    if (rounds % 2 === 0) ours.push(await takeOurs());
    baseline.push(await takeBaseline());
    if (rounds % 2 === 1) ours.push(await takeOurs());
    rounds++;
  }
  const times = (quantile: number) => ({
    ours_ms: quantileOf(ours, quantile),
    baseline_ms: quantileOf(baseline, quantile),
  });
  return { rounds, ...times(at), ...(at === 0 ? {} : { minima: times(0) }) };
}

/** The smallest value that at least this part of all values does not exceed. */
export function quantileOf(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN;
}

async function time(work: () => unknown): Promise<number> {
  const started = performance.now();
  const made = await work();
  if (isCounted(made)) return made.bytes;
  return isTook(made) ? made.took_ms : performance.now() - started;
}

function isCounted(made: unknown): made is Counted {
  return typeof made === "object" && made !== null && "bytes" in made && typeof made.bytes === "number";
}

function isTook(made: unknown): made is Took {
  return typeof made === "object" && made !== null && "took_ms" in made;
}

export function ratioOf(goal: Goal, ours: number, baseline: number): number {
  return goal.kind === "rate" ? baseline / ours : ours / baseline;
}

/** The power of the size that our cost follows between the first and the last sample. */
export function growthOf(samples: readonly Pick<Sample, "size" | "ours_ms">[]): number | null {
  const first = samples[0];
  const last = samples.at(-1);
  if (first === undefined || last === undefined || first.size === last.size) return null;
  return Math.log(last.ours_ms / first.ours_ms) / Math.log(last.size / first.size);
}

export function isMet(
  goal: Goal,
  samples: readonly (Pick<Sample, "ratio"> & Partial<Sample>)[],
  growth: number | null,
  maxGrowth = MAX_GROWTH,
): boolean {
  const ratio = samples.at(-1)?.ratio ?? Number.NaN;
  const isEnough = goal.kind === "time" && (samples.at(-1)?.ours_ms ?? Number.NaN) <= (goal.orMs ?? 0);
  const reached = isEnough || (goal.kind === "rate" ? ratio >= goal.atLeast : ratio <= goal.atMost);
  return reached && (growth === null || growth <= maxGrowth);
}

export function formatGoal(goal: Goal): string {
  if (goal.kind === "rate") return `rate >= ${goal.atLeast}x`;
  return `time <= ${goal.atMost}x${goal.orMs === undefined ? "" : ` or ${goal.orMs} ms`}`;
}
