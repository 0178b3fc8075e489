/** Index of the first entry at or after a time, by halves: the ledger is in the order of time. */
export async function findBegin(
  timeOf: (index: number) => Promise<number>,
  at: number,
  from: number,
  to: number,
): Promise<number> {
  if (from >= to || (await timeOf(from)) >= at) return from;
  let [low, high] = [from + 1, to];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((await timeOf(middle)) >= at) high = middle;
    else low = middle + 1;
  }
  return low;
}
