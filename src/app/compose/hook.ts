import { writeDurably } from "../../adapters/disk/durable/durable-write.ts";
import { HOOK_OPERATIONS, type HookOperationPorts } from "../hooks/operations.ts";
import type { Wiring } from "../operations.ts";
import { hookPorts } from "./hook-ports.ts";

export const wiring: Wiring<typeof HOOK_OPERATIONS> = {
  operations: HOOK_OPERATIONS,
  async ports({ files, start, env, platform, workspace }): Promise<HookOperationPorts> {
    return { ...hookPorts, files, start, env, platform, workspace, write: writeDurably };
  },
};
