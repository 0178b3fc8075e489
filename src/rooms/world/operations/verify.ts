import { z } from "zod";
import { decodeUtf8 } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { CHECKPOINT_PAYLOAD_TYPE, type Checkpoint, parseCheckpoint } from "../../../core/ledger/index.ts";
import { defineOperation, VIEWER } from "../../../core/operation.ts";
import { openEnvelopeFile, type TrustPolicy } from "../../../core/trust/index.ts";
import { verifyExport } from "../history/exported-file.ts";
import { rebuildIndex, verifyWorld } from "../history/verify.ts";
import {
  findWorldId,
  MAX_WORLD_FILE,
  readPolicy,
  requireLocal,
  sayTo,
  trustField,
  type WorldRoom,
  worldField,
} from "./room.ts";

const MAX_CHECKPOINT_FILE = 1024 * 1024;

const findingSchema = z.strictObject({ code: z.string(), where: z.string(), message: z.string(), fix: z.string() });

const reportSchema = z.strictObject({
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
  trust: z
    .strictObject({
      verdict: z.enum(["UNSIGNED", "UNCHECKED", "UNTRUSTED", "TRUSTED"]),
      code: z.string().nullable(),
      named_keys: z.array(z.string()).describe("Keys that the file names; their signatures were not checked."),
      valid_keys: z.array(z.string()).describe("Keys of the policy whose signature is valid."),
      threshold: z.number().nullable(),
    })
    .nullable()
    .optional()
    .describe("Who vouches for an exported file; absent for a world in the store."),
  findings: z.array(findingSchema),
});

export const verify = defineOperation({
  name: "world.verify",
  summary: "Checks the chain of a world and every row against its records, or an exported file offline.",
  effect: "read",
  who: VIEWER,
  input: z.strictObject({
    world: worldField,
    file: z.string().min(1).optional().describe("Check this exported world instead, without a store."),
    checkpoint: z
      .string()
      .min(1)
      .optional()
      .describe("Compare with this signed checkpoint (default: the newest recorded one)."),
    trust: trustField,
    rebuild_index: z.boolean().default(false).describe("Rebuild the search index first."),
  }),
  output: reportSchema,
  async run(room: WorldRoom, { world, file, checkpoint, trust, rebuild_index }) {
    if (file !== undefined) {
      requireLocal(room, "file");
      const policy = trust === undefined ? null : await readPolicy(room, trust);
      return verifyBytes(room, await room.files.read(file, MAX_WORLD_FILE), policy);
    }
    if (trust !== undefined) {
      throw new VerbatimError("USAGE", {
        message: {
          cli: "--trust says whose signatures of an exported file count, so it needs --file",
          others: "trust says whose signatures of an exported file count, so it needs file",
        },
        where: "/trust",
      });
    }
    const worldId = await findWorldId(room, world);
    if (rebuild_index) await rebuildIndex({ ...room, store: await room.writable() }, worldId);
    const report = await verifyWorld(room, worldId, checkpoint === undefined ? null : await readFile(room, checkpoint));
    return { ...report, findings: report.findings.map((one) => ({ ...one, fix: sayTo(room, one.fix) })) };
  },
});

async function readFile(room: WorldRoom, file: string): Promise<Checkpoint> {
  requireLocal(room, "checkpoint");
  const { envelope, payload } = openEnvelopeFile(await room.files.read(file, MAX_CHECKPOINT_FILE), file);
  if (envelope.payloadType !== CHECKPOINT_PAYLOAD_TYPE) {
    throw new VerbatimError("ATTESTATION_TYPE", { message: "the envelope does not contain a checkpoint", where: file });
  }
  return parseCheckpoint(payload);
}

async function verifyBytes(
  room: WorldRoom,
  bytes: Uint8Array,
  policy: TrustPolicy | null,
): Promise<z.input<typeof reportSchema>> {
  const { trust, findings, ...rest } = await verifyExport(room, decodeUtf8(bytes) ?? "", policy);
  return {
    ...rest,
    ok: findings.length === 0,
    checkpoint: null,
    trust: trust === null ? null : { ...trust, named_keys: [...trust.named_keys], valid_keys: [...trust.valid_keys] },
    findings: [...findings],
  };
}
