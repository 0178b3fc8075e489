import { z } from "zod";
import { defineOperation } from "../../../core/operation.ts";
import type { WorldRoom } from "./room.ts";

const storySchema = z.strictObject({
  ok: z.boolean(),
  steps: z.array(z.strictObject({ title: z.string(), lines: z.array(z.string()), ok: z.boolean() })),
});

/** What a demonstration shows. */
type Story = z.input<typeof storySchema>;

export const demo = defineOperation({
  name: "world.demo",
  summary: "Tells a short story in a temporary store: a secret stays unknown to the person who was not told.",
  effect: "read",
  input: z.strictObject({}),
  output: storySchema,
  run: async (room: WorldRoom & { demonstrate(): Promise<Story> }) => room.demonstrate(),
});
