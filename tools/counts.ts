/** What a run of the tests came to. */
export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/** The last line of every run. */
export function formatCounts(counts: Counts): string {
  return `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`;
}
