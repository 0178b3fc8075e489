import { z } from "zod";
import { decodeUtf8 } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { CHECKPOINT_PAYLOAD_TYPE, type Checkpoint, parseCheckpoint } from "../../../core/ledger/index.ts";
import { defineOperation } from "../../../core/operation.ts";
import { openEnvelopeFile } from "../../../core/trust/dsse.ts";
import { checkWorldFile } from "../service/history.ts";
import { rebuildIndex, verifyWorld } from "../service/verify.ts";
import { findWorldId, MAX_WORLD_FILE, requireLocal, type WorldRoom, worldField } from "./room.ts";

const MAX_CHECKPOINT_FILE = 1024 * 1024;

const findingSchema = z.strictObject({ code: z.string(), where: z.string(), message: z.string(), fix: z.string() });

export const reportSchema = z.strictObject({
  world_id: z.string(),
  ok: z.boolean(),
  checked: z.strictObject({ records: z.int(), entries: z.int(), outcomes: z.int() }),
  head: z.strictObject({ position: z.int(), hash: z.string() }).nullable(),
  checkpoint: z
    .strictObject({
      tree_size: z.int(),
      root_hash: z.string(),
      source: z.enum(["ledger", "file"]),
      time: z.string().nullable(),
    })
    .nullable(),
  findings: z.array(findingSchema),
});

export const verify = defineOperation({
  name: "world.verify",
  summary: "Checks the chain of a world and every row against its records, or an exported file offline.",
  effect: "read",
  input: z.strictObject({
    world: worldField,
    file: z.string().min(1).optional().describe("Check this exported world instead, without a store."),
    checkpoint: z
      .string()
      .min(1)
      .optional()
      .describe("Compare with this signed checkpoint; with the newest recorded one otherwise."),
    rebuild_index: z.boolean().default(false).describe("Make the search index anew first."),
  }),
  output: reportSchema,
  async run(room: WorldRoom, { world, file, checkpoint, rebuild_index }) {
    if (file !== undefined) {
      requireLocal(room, "file");
      return verifyBytes(room, await room.files.read(file, MAX_WORLD_FILE));
    }
    const worldId = await findWorldId(room, world);
    if (rebuild_index) await rebuildIndex({ ...room, store: await room.writable() }, worldId);
    const report = await verifyWorld(room, worldId, checkpoint === undefined ? null : await readFile(room, checkpoint));
    return { ...report, findings: [...report.findings] };
  },
});

async function readFile(room: WorldRoom, file: string): Promise<Checkpoint> {
  requireLocal(room, "checkpoint");
  const { envelope, payload } = openEnvelopeFile(await room.files.read(file, MAX_CHECKPOINT_FILE), file);
  if (envelope.payloadType !== CHECKPOINT_PAYLOAD_TYPE) {
    throw new VerbatimError("ATTESTATION_TYPE", { message: "the envelope is not one of a checkpoint", where: file });
  }
  return parseCheckpoint(payload);
}

function verifyBytes(room: WorldRoom, bytes: Uint8Array): z.input<typeof reportSchema> {
  const { file, image, findings } = checkWorldFile(room, decodeUtf8(bytes) ?? "");
  const last = file?.records.at(-1);
  const checked = {
    records: file?.records.length ?? 0,
    entries: image?.entries.length ?? 0,
    outcomes: file?.outcomes.length ?? 0,
  };
  return {
    world_id: String(file?.header["world_id"] ?? ""),
    ok: findings.length === 0,
    checked,
    head: last === undefined ? null : { position: last.position, hash: last.hash },
    checkpoint: null,
    findings: [...findings],
  };
}
