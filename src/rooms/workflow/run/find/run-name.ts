import { compareCodePoints } from "../../../../core/canonical/index.ts";
import { VerbatimError } from "../../../../core/errors/index.ts";

/** A run that somebody may mean: its id, and when it was made. */
export interface NamedRun {
  readonly run_id: string;
  readonly created_at: string;
}

/** What the runs are called in messages, and the verb that lists them. */
export interface RunWords {
  /** "agent run", "run". */
  readonly noun: string;
  readonly list: string;
}

const AGE = /^@([1-9][0-9]{0,5})?$/;
const LAST_SIX = /^[0-9a-f]{6}$/;
const MOST_NAMED = 5;

/** Whether a name counts back from the newest run: `@`, `@2`. */
export function isAge(name: string): boolean {
  return AGE.test(name);
}

/**
 * The run that a name means: an id, a unique beginning of one, its last six digits, or `@`, `@2`, `@3` for the newest and
 * the ones before it. `runs` are in any order. RUN_NOT_FOUND, RUN_AMBIGUOUS.
 */
export function resolveRunName(runs: readonly NamedRun[], name: string, words: RunWords): string {
  const sorted = [...runs].sort(byAge);
  const [, age] = AGE.exec(name) ?? [];
  if (isAge(name)) {
    const found = sorted[Number(age ?? "1") - 1];
    if (found !== undefined) return found.run_id;
    throw notFound(sorted, words, describeCount(runs.length, words.noun));
  }
  const ids = sorted.map(({ run_id }) => run_id);
  if (ids.includes(name)) return name;
  const matched = name === "" ? [] : ids.filter((id) => id.startsWith(name) || endsWith(id, name));
  if (matched.length === 1) return matched[0]!;
  if (matched.length > 1) throw ambiguous(matched, name);
  throw notFound(sorted, words, `this repository has no ${words.noun} ${JSON.stringify(name)}`);
}

/** Newest first; of two made at the same time the larger id, so that the order never depends on the disk. */
function byAge(a: NamedRun, b: NamedRun): number {
  return compareCodePoints(b.created_at, a.created_at) || compareCodePoints(b.run_id, a.run_id);
}

function endsWith(id: string, name: string): boolean {
  return LAST_SIX.test(name) && id.endsWith(`-${name}`);
}

function describeCount(count: number, noun: string): string {
  if (count === 0) return `this repository has no ${noun} yet`;
  return count === 1 ? `this repository has only one ${noun}` : `this repository has only ${count} ${noun}s`;
}

function notFound(sorted: readonly NamedRun[], { list }: RunWords, message: string): VerbatimError {
  const runs = sorted.slice(0, MOST_NAMED).map(({ run_id }) => run_id);
  const newest = runs.length === 0 ? "" : `; the newest ${runs.length === 1 ? "is" : "are"} ${runs.join(", ")}`;
  return new VerbatimError("RUN_NOT_FOUND", {
    message: `${message}${newest}`,
    fix: `List them: ${list}`,
    details: { runs },
  });
}

/** RUN_AMBIGUOUS: the name could mean several runs. */
export function ambiguous(runs: readonly string[], name: string | null): VerbatimError {
  const shown = runs.slice(0, MOST_NAMED).join(", ");
  const more = runs.length > MOST_NAMED ? ` and ${runs.length - MOST_NAMED} more` : "";
  const what = name === null ? "more than one run is open" : `${JSON.stringify(name)} could be more than one run`;
  return new VerbatimError("RUN_AMBIGUOUS", { message: `${what}: ${shown}${more}`, details: { runs } });
}
