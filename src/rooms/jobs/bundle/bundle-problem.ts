import type { Finding } from "../../../core/errors/index.ts";

/** One thing that is wrong with a bundle. */
export interface BundleProblem {
  readonly code: Finding<"jobs">;
  readonly pointer: string;
  readonly message: string;
  readonly expected?: string;
  readonly actual?: string;
  /** Only EXTRA_FILE: what is there and should not be. */
  readonly path?: string;
  /** Only MANIFEST_JSON: why it is not JSON. */
  readonly json_code?: string;
}
