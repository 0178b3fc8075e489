import { z } from "zod";
import { defineOperation } from "../../../core/operation.ts";
import { readHealth } from "./reachability.ts";
import type { WorldRoom } from "./room.ts";

export const health = defineOperation({
  name: "world.health",
  summary: "Says how the room is doing: store, queue, writers, checkpoint and index.",
  effect: "read",
  input: z.strictObject({}),
  output: z.strictObject({
    store: z.boolean().describe("Whether the store can be written."),
    queue: z.int().describe("Beats that wait for their turn."),
    worlds: z.int(),
    ledger_entries: z.int(),
    writers: z
      .strictObject({ scripted: z.int(), reachable: z.int(), unreachable: z.int() })
      .describe("Worlds by whether their writer answers; looked at most every 30 s."),
    checkpoint_age_s: z.int().nullable().describe("Age of the newest recorded checkpoint; null without one."),
    index_lag: z.int().describe("Entries that search does not know; they are indexed when they are written."),
  }),
  run: async (room: WorldRoom) => readHealth(room),
});
