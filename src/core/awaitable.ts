import type { Awaitable } from "./ports.ts";

/**
 * A computation that yields the promises it has to wait for and is given their values. What is at hand already is
 * used as it is, so with a port that answers at once nothing is ever yielded and no microtask is spent.
 */
export type Steps<T> = Generator<Promise<unknown>, T, unknown>;

/** Runs the steps to the end: at once when nothing has to be waited for, else as a promise. */
export function runSteps<T>(steps: Steps<T>): Awaitable<T> {
  const step = steps.next();
  return step.done === true ? step.value : finishSteps(steps, step.value);
}

async function finishSteps<T>(steps: Steps<T>, first: Promise<unknown>): Promise<T> {
  let pending = first;
  for (;;) {
    const step = await pending.then(
      (value) => steps.next(value),
      (thrown: unknown) => steps.throw(thrown),
    );
    if (step.done === true) return step.value;
    pending = step.value;
  }
}
