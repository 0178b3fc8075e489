import { z } from "zod";
import { encodeUtf8 } from "../../../core/canonical/index.ts";
import { defineOperation } from "../../../core/operation.ts";
import { exportWorld } from "../service/history.ts";
import { exportView } from "../service/view-export.ts";
import { findWorldId, requireLocal, viewerField, type WorldRoom, worldField } from "./room.ts";

const exportInput = z.strictObject({
  world: worldField,
  kind: z.enum(["full", "viewer"]).default("full").describe("Everything, or only what a viewer may see."),
  viewer: viewerField,
  out: z.string().optional().describe("New file to write; the lines are printed otherwise."),
});

async function exportLines(room: WorldRoom, input: z.output<typeof exportInput>): Promise<readonly string[]> {
  const worldId = await findWorldId(room, input.world);
  return input.kind === "full" ? exportWorld(room, worldId) : exportView(room, worldId, input.viewer ?? null);
}

export const exportOperation = defineOperation({
  name: "world.export",
  summary: "Writes a world as lines that verify offline, or a viewer's part of it.",
  effect: "read",
  input: exportInput,
  output: z.strictObject({
    world_id: z.string(),
    kind: z.string(),
    lines: z.int(),
    file: z.string().nullable(),
    sha256: z.string(),
  }),
  async run(room: WorldRoom, input) {
    if (input.out !== undefined) requireLocal(room, "out");
    const text = (await exportLines(room, input)).map((line) => `${line}\n`).join("");
    if (input.out !== undefined) await room.files.create(input.out, encodeUtf8(text));
    return {
      world_id: await findWorldId(room, input.world),
      kind: input.kind,
      lines: text.split("\n").length - 1,
      file: input.out ?? null,
      sha256: room.crypto.sha256(text),
    };
  },
  async *lines(room: WorldRoom, input) {
    yield* await exportLines(room, input);
  },
});
