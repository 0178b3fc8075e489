import { BUNDLE_OPERATIONS, bundleBuild, JOB_OPERATIONS } from "../../rooms/jobs/index.ts";
import type { Wiring } from "../operations.ts";
import { bundlePorts } from "./bundle.ts";
import { jobPorts } from "./job.ts";

/** Everything under `jobs.` */
export const JOBS_OPERATIONS = [...JOB_OPERATIONS, ...BUNDLE_OPERATIONS, bundleBuild] as const;

export const wiring: Wiring<typeof JOBS_OPERATIONS> = {
  operations: JOBS_OPERATIONS,
  ports: async (composition, effect, name) =>
    name.startsWith("jobs.bundle-") ? bundlePorts(composition, effect, name) : jobPorts(composition, effect),
};
