import type { LedgerPorts } from "../../core/ledger/operation-ports.ts";
import { LEDGER_OPERATIONS } from "../../core/ledger/operations.ts";
import type { Wiring } from "../operations.ts";

export const wiring: Wiring<typeof LEDGER_OPERATIONS> = {
  operations: LEDGER_OPERATIONS,
  ports: async ({ crypto, files, progress, actor, keys, store }, effect): Promise<LedgerPorts> => ({
    store: await store(effect),
    crypto,
    files,
    progress,
    actor,
    loadKey: (key) => keys.load(key),
  }),
};
