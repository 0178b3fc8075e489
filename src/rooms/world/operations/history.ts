import { z } from "zod";
import { defineOperation } from "../../../core/operation.ts";
import { forkWorld } from "../history/history.ts";
import { exportOperation } from "./export.ts";
import { health } from "./health.ts";
import { importBase64, importOperation } from "./import.ts";
import { findWorldId, viewerField, type WorldRoom, worldField } from "./room.ts";
import { authorize, autonomy, metrics } from "./serving.ts";
import { verify } from "./verify.ts";

const fork = defineOperation({
  name: "world.fork",
  summary: "Creates a new world that shares the past of this one up to the beat of a cursor.",
  effect: "append",
  input: z.strictObject({
    cursor: z.string().min(1).describe("Cursor of the last line to keep."),
    world: worldField,
    viewer: viewerField,
    id: z.string().optional().describe("Id of the new world."),
    title: z.string().min(1).max(120).optional().describe("Title of the new world."),
  }),
  output: z.strictObject({ world_id: z.string(), parent_world_id: z.string(), parent_position: z.int() }),
  run: async (room: WorldRoom, { cursor, world, viewer, id, title }) =>
    forkWorld(room, await findWorldId(room, world), {
      cursor,
      viewer: viewer ?? null,
      world_id: id ?? null,
      title: title ?? null,
    }),
});
export const HISTORY_OPERATIONS = [
  fork,
  exportOperation,
  importOperation,
  importBase64,
  verify,
  authorize,
  health,
  metrics,
  autonomy,
] as const;
