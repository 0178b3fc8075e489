import type { LedgerPorts } from "../../core/ledger/operation-ports.ts";
import { LEDGER_OPERATIONS } from "../../core/ledger/operations.ts";
import type { Output, Wiring } from "../operations.ts";
import { remember } from "./remembered.ts";

export const wiring: Wiring<typeof LEDGER_OPERATIONS> = {
  operations: LEDGER_OPERATIONS,
  async ports(composition, effect): Promise<LedgerPorts> {
    const { crypto, files, progress, actor, keys, store } = composition;
    return {
      store: await store(effect),
      crypto,
      files,
      progress,
      actor,
      loadKey: (key) => keys.load(key),
      listKeys: () => keys.list(),
      onVerified: (found) => remember(composition, "verified", found as Output<"ledger.verify">),
    };
  },
};
