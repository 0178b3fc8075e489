import type { Wiring } from "../operations.ts";
import { STUDIO_OPERATIONS } from "../studio/operations.ts";

export const wiring: Wiring<typeof STUDIO_OPERATIONS> = {
  operations: STUDIO_OPERATIONS,
  ports: async ({ sessions }) => ({ sessions }),
};
