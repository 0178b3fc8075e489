import { z } from "zod";
import { encodeUtf8 } from "../../../core/canonical/index.ts";
import { defineOperation } from "../../../core/operation.ts";
import { signExport } from "../history/export-signature.ts";
import { exportWorld } from "../history/history.ts";
import { exportView } from "../projection/view-export.ts";
import { findWorldId, requireLocal, viewerField, type WorldRoom, worldField } from "./room.ts";

const exportInput = z.strictObject({
  world: worldField,
  kind: z.enum(["full", "viewer"]).default("full").describe("Everything, or only what a viewer may see."),
  viewer: viewerField,
  out: z.string().optional().describe("New file to write (default: print the lines)."),
  sign: z.string().min(1).optional().describe("Key to sign with: a name, or the path of a key file."),
});

interface Exported {
  readonly world_id: string;
  readonly lines: readonly string[];
  readonly key_id: string | null;
}

async function makeExport(room: WorldRoom, input: z.output<typeof exportInput>): Promise<Exported> {
  if (input.sign !== undefined) requireLocal(room, "sign");
  const key = input.sign === undefined ? null : await room.loadKey(input.sign);
  const world_id = await findWorldId(room, input.world);
  const lines =
    input.kind === "full" ? await exportWorld(room, world_id) : await exportView(room, world_id, input.viewer ?? null);
  return { world_id, lines: key === null ? lines : await signExport(lines, key), key_id: key?.key_id ?? null };
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
    key_id: z.string().nullable().describe("Key that signed it."),
  }),
  async run(room: WorldRoom, input) {
    if (input.out !== undefined) requireLocal(room, "out");
    const { world_id, lines, key_id } = await makeExport(room, input);
    const text = lines.map((line) => `${line}\n`).join("");
    if (input.out !== undefined) await room.files.create(input.out, encodeUtf8(text));
    const sha256 = room.crypto.sha256(text);
    return { world_id, kind: input.kind, lines: lines.length, file: input.out ?? null, sha256, key_id };
  },
  async *lines(room: WorldRoom, input) {
    yield* (await makeExport(room, input)).lines;
  },
});
