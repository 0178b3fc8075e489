import { CHECK_OPERATIONS } from "./operations-check.ts";
import { READ_OPERATIONS } from "./operations-read.ts";
import { RUN_OPERATIONS } from "./operations-run.ts";

/** Everything the workflow room can do. */
export const WORKFLOW_OPERATIONS = [...RUN_OPERATIONS, ...READ_OPERATIONS, ...CHECK_OPERATIONS] as const;
