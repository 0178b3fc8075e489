import { z } from "zod";
import { defineOperation } from "../../../core/operation.ts";
import { readHealth } from "./reachability.ts";
import type { WorldRoom } from "./room.ts";

export const health = defineOperation({
  name: "world.health",
  summary: "Shows the health of the room: store, queue, writers, checkpoint and index.",
  effect: "read",
  input: z.strictObject({}),
  output: z.strictObject({
    store: z.boolean().describe("Whether the store is writable."),
    queue: z.int().describe("Beats that are waiting for their turn."),
    worlds: z.int(),
    ledger_entries: z.int(),
    writers: z
      .strictObject({ scripted: z.int(), reachable: z.int(), unreachable: z.int() })
      .describe("Worlds by whether their writer responds; checked at most every 30 s."),
    checkpoint_age_s: z.int().nullable().describe("Age of the newest recorded checkpoint; null if there is none."),
    index_lag: z.int().describe("Entries that are not in the search index; entries are indexed when they are written."),
  }),
  run: async (room: WorldRoom) => readHealth(room),
});
