/** Work that can be interrupted wherever it yields, and what comes of it. */
export type Turns<T> = Generator<undefined, T, undefined>;

/** Lines of a patch that are read before others get a turn: a few milliseconds. */
export const LINES_A_TURN = 16_384;

/** Does all of it at once. */
export function runWhole<T>(work: Turns<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

/** Does it in turns, with a pause between two. */
export async function runInTurns<T>(work: Turns<T>, pause: () => Promise<unknown>): Promise<T> {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    await pause();
  }
}
