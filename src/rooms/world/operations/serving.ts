import { z } from "zod";
import { defineOperation } from "../../../core/operation.ts";
import type { WorldRoom } from "./room.ts";

export const authorize = defineOperation({
  name: "world.authorize",
  summary: "Shows what a token of a world may do.",
  effect: "read",
  doors: ["http", "library"],
  input: z.strictObject({
    token_sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .describe("Hash of the token."),
  }),
  output: z.strictObject({
    role: z.string().nullable(),
    world_id: z.string().nullable(),
    viewer: z.string().nullable(),
  }),
  async run(room: WorldRoom, { token_sha256 }) {
    const token = await room.store.read((door) => door.world.token(token_sha256));
    return { role: token?.role ?? null, world_id: token?.world_id ?? null, viewer: token?.viewer ?? null };
  },
});

export const metrics = defineOperation({
  name: "world.metrics",
  summary: "Counts and durations since the start, without ids, titles or text.",
  effect: "read",
  input: z.strictObject({}),
  output: z.strictObject({ text: z.string().describe("Text format of Prometheus.") }),
  run: async (room: WorldRoom) => ({ text: room.beats.metrics.format() }),
});

export const autonomy = defineOperation({
  name: "world.autonomy",
  summary: "Runs an empty beat in every world where one is due.",
  effect: "append",
  doors: ["http", "library"],
  input: z.strictObject({}),
  output: z.strictObject({ beats: z.int() }),
  async run(room: WorldRoom) {
    const rows = await room.store.read((door) => door.world.list());
    const done = await Promise.all(rows.map(({ world_id }) => room.beats.passTime(world_id)));
    return { beats: done.filter(Boolean).length };
  },
});
