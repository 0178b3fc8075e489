import { CHECK_OPERATIONS } from "./check.ts";
import { READ_OPERATIONS } from "./read.ts";
import { RUN_OPERATIONS } from "./run.ts";

/** Everything the workflow room can do. */
export const WORKFLOW_OPERATIONS = [...RUN_OPERATIONS, ...READ_OPERATIONS, ...CHECK_OPERATIONS] as const;
