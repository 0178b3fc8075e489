import { bundleBuild } from "../../rooms/jobs/bundle-build-operation.ts";
import { BUNDLE_OPERATIONS } from "../../rooms/jobs/bundle-operations.ts";
import { JOB_OPERATIONS } from "../../rooms/jobs/job-operations.ts";
import type { Wiring } from "../operations.ts";
import { bundlePorts } from "./bundle.ts";
import { jobPorts } from "./job.ts";

export const wiring: Wiring = {
  operations: [...JOB_OPERATIONS, ...BUNDLE_OPERATIONS, bundleBuild],
  ports: async (composition, effect, name) =>
    name.startsWith("jobs.bundle-") ? bundlePorts(composition, effect, name) : jobPorts(composition, effect),
};
