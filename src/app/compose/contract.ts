import { CONTRACT_OPERATIONS } from "../hall/contract-operations.ts";
import type { Wiring } from "../operations.ts";

export const wiring: Wiring<typeof CONTRACT_OPERATIONS> = {
  operations: CONTRACT_OPERATIONS,
  ports: async ({ files, crypto }) => ({ files, crypto }),
};
