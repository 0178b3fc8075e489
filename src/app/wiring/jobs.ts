import { bundleBuild } from "../../rooms/jobs/bundle-build-operation.ts";
import { BUNDLE_OPERATIONS } from "../../rooms/jobs/bundle-operations.ts";
import type { Wiring } from "../operations.ts";
import { bundlePorts } from "./bundle.ts";

export const wiring: Wiring = {
  operations: [...BUNDLE_OPERATIONS, bundleBuild],
  ports: bundlePorts,
};
