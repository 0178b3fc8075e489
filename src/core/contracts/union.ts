import { isJsonObject, type JsonValue } from "../canonical/index.ts";
import type { Problem } from "./problem.ts";

/** What one branch of a union says about a value. */
export interface BranchResult {
  readonly problems: readonly Problem[];
  /** Whether the constants of the branch are those of the value. */
  readonly meant: boolean;
}

/** Whether an object carries the constants by which a branch is told apart from the others. */
export function isMeant(constants: ReadonlyMap<string, unknown>, value: JsonValue): boolean {
  if (!isJsonObject(value)) return true;
  return [...constants].every(([key, constant]) => Object.hasOwn(value, key) && value[key] === constant);
}

/** The problems to tell when no branch accepts: those of the branch that was meant, else those all branches share. */
export function explainUnion(results: readonly BranchResult[]): readonly Problem[] {
  const meant = results.filter((result) => result.meant);
  if (meant.length > 0) return fewest(meant);
  const shortest = fewest(results);
  const shared = shortest.filter((one) =>
    results.every(({ problems }) => problems.some((other) => isSame(one, other))),
  );
  return shared.length > 0 ? shared : shortest;
}

function fewest(results: readonly BranchResult[]): readonly Problem[] {
  return results.map(({ problems }) => problems).reduce((best, next) => (next.length < best.length ? next : best));
}

function isSame(a: Problem, b: Problem): boolean {
  return a.code === b.code && a.pointer === b.pointer;
}
