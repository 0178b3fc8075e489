declare module "vitest" {
  interface TaskMeta {
    /** Why a test or a group was left out. */
    skipReason?: string;
  }
}

/**
 * Options of a test or a group that needs something this machine may not have: `it("...", needs(reason), ...)`. With a
 * reason it is skipped, and the run prints the reason; with null it runs. `skipIf` would skip without a word.
 */
export function needs(reason: string | null): { readonly skip: boolean; readonly meta: { skipReason?: string } } {
  return { skip: reason !== null, meta: reason === null ? {} : { skipReason: reason } };
}
