import { z } from "zod";
import { defineOperation, OWNER } from "../../../core/operation.ts";
import type { WorldRoom } from "./room.ts";

const storySchema = z.strictObject({
  ok: z.boolean(),
  steps: z.array(z.strictObject({ title: z.string(), lines: z.array(z.string()), ok: z.boolean() })),
});

/** What a demonstration shows. */
type Story = z.input<typeof storySchema>;

export const demo = defineOperation({
  name: "world.demo",
  summary: "Plays a short story in a temporary store: someone who was not told a secret does not learn it.",
  effect: "read",
  who: OWNER,
  input: z.strictObject({}),
  output: storySchema,
  run: async (room: WorldRoom & { demonstrate(): Promise<Story> }) => room.demonstrate(),
});
