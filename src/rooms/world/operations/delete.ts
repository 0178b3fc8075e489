import { z } from "zod";
import { defineOperation, LOCAL_SURFACES } from "../../../core/operation.ts";
import { eraseWorld, type Maintenance } from "../history/erase.ts";
import { findWorldId, type WorldRoom, worldField } from "./room.ts";

export const deleteWorld = defineOperation({
  name: "world.delete",
  summary: "Erases a world permanently: its lines, records, answers and files. Nothing else may use the workspace.",
  effect: "mutate",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({
    world: worldField,
    confirm: z.string().min(1).describe("The title of the world, typed out."),
  }),
  output: z.strictObject({
    world_id: z.string(),
    records: z.int().describe("Records whose bodies were erased; their positions and hashes stay."),
    entries: z.int(),
    blobs: z.int().describe("Imported files that were removed."),
  }),
  run: async (room: WorldRoom & Maintenance, { world, confirm }) =>
    eraseWorld(room, await findWorldId(room, world), confirm),
});
