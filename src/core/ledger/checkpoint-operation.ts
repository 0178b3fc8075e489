import { z } from "zod";
import { encodeUtf8 } from "../canonical/index.ts";
import { defineOperation, LOCAL_SURFACES } from "../operation.ts";
import { signEnvelope, toEnvelopeFile } from "../trust/dsse.ts";
import { CHECKPOINT_PAYLOAD_TYPE, formatCheckpoint } from "./checkpoint.ts";
import type { LedgerPorts } from "./operation-ports.ts";
import { TRUST_RECORDS } from "./records.ts";
import { readFrontier } from "./since.ts";

const count = z.int().min(0);
const hash = z.string().regex(/^[0-9a-f]{64}$/);

export const ledgerCheckpoint = defineOperation({
  name: "ledger.checkpoint",
  summary: "Signs the current ledger and records the checkpoint in the stream trust.",
  effect: "append",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({
    key: z.string().describe("Key to sign with: a name, or the path of a key file."),
    out: z.string().optional().describe("File to write the signed checkpoint to; never overwritten."),
  }),
  output: z.strictObject({
    ledger_id: z.string(),
    root_hash: hash,
    tree_size: count,
    key_id: hash,
    envelope: z.unknown().describe("The DSSE envelope."),
    path: z.string().nullable(),
  }),
  async run({ store, crypto, files, actor, loadKey }: LedgerPorts, input) {
    const key = await loadKey(input.key);
    const { frontier, ...checkpoint } = await store.read(async ({ ledger }) => {
      const size = await ledger.size();
      const edge = await readFrontier(crypto, ledger, size);
      return {
        ledger_id: await ledger.ledgerId(),
        root_hash: await edge.root(),
        tree_size: size,
        frontier: [...edge.roots],
      };
    });
    const payload = encodeUtf8(formatCheckpoint(checkpoint));
    const envelope = await signEnvelope(key, CHECKPOINT_PAYLOAD_TYPE, payload);
    if (input.out !== undefined) await files.create(input.out, toEnvelopeFile(envelope));
    await store.transact(async ({ ledger }) => {
      const entry = TRUST_RECORDS.make("CHECKPOINT", actor, { ...checkpoint, key_id: key.key_id, frontier });
      await ledger.append("trust", "next", [entry]);
    });
    return { ...checkpoint, key_id: key.key_id, envelope, path: input.out ?? null };
  },
});
