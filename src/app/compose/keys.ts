import { TRUST_OPERATIONS, type TrustPorts } from "../../core/trust/operations.ts";
import type { Wiring } from "../operations.ts";

export const wiring: Wiring<typeof TRUST_OPERATIONS> = {
  operations: TRUST_OPERATIONS,
  ports: async ({ keys, files, crypto }): Promise<TrustPorts> => ({ keys, files, crypto }),
};
