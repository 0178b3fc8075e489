import { z } from "zod";
import { parseJson } from "../canonical/index.ts";
import { VerbatimError } from "../errors/index.ts";
import { defineOperation, LOCAL_SURFACES, READER } from "../operation.ts";
import { type OpenedEnvelope, openEnvelopeFile } from "../trust/dsse.ts";
import { parsePolicy } from "../trust/policy.ts";
import { evaluateTrust } from "../trust/verdict.ts";
import { CHECKPOINT_PAYLOAD_TYPE, compareWithCheckpoint, parseCheckpoint } from "./checkpoint.ts";
import { type LedgerPorts, MAX_FILE } from "./operation-ports.ts";
import { verifySince } from "./since.ts";
import { verifyLedger } from "./verify.ts";

const count = z.int().min(0);
const hash = z.string().regex(/^[0-9a-f]{64}$/);

const problemSchema = z.strictObject({
  code: z.string(),
  stream: z.string(),
  position: count,
  expected: z.string(),
  actual: z.string(),
});

const trustSchema = z.strictObject({
  verdict: z.enum(["UNSIGNED", "UNCHECKED", "UNTRUSTED", "TRUSTED"]),
  code: z.string().nullable(),
  valid_keys: z.array(hash),
  threshold: z.number().nullable(),
});

export const ledgerVerify = defineOperation({
  name: "ledger.verify",
  summary: "Verifies every stream, the global order and, if given, a signed checkpoint.",
  effect: "read",
  who: READER,
  surfaces: [...LOCAL_SURFACES, "http"],
  // Files of whoever asks; over HTTP the chain itself is verified.
  localFields: ["checkpoint", "trust"],
  input: z.strictObject({
    checkpoint: z.string().optional().describe("File with a signed checkpoint to compare with."),
    trust: z.string().optional().describe("Trust policy that says whose checkpoints count."),
    since: z
      .enum(["last"])
      .optional()
      .describe("last: only what came after the newest checkpoint that the ledger records."),
  }),
  output: z.strictObject({
    ok: z.boolean(),
    entries: count,
    streams: count,
    root_hash: hash.nullable(),
    problems: z.array(problemSchema),
    checkpoint: z.strictObject({ tree_size: count, root_hash: hash, ledger_id: z.string() }).nullable(),
    trust: trustSchema.nullable(),
    since: z
      .strictObject({ tree_size: count, index: count })
      .nullable()
      .default(null)
      .describe("The checkpoint it went on from: its size, and the entry that records it."),
    proves: z.array(z.string()),
    does_not_prove: z.array(z.string()),
  }),
  async run(ports: LedgerPorts, input) {
    if (input.trust !== undefined && input.checkpoint === undefined) {
      throw new VerbatimError("USAGE", {
        message: {
          cli: "--trust says whose checkpoints count, so it needs --checkpoint",
          others: "trust says whose checkpoints count, so it needs checkpoint",
        },
      });
    }
    if (input.since !== undefined) {
      if (input.checkpoint !== undefined) {
        throw new VerbatimError("USAGE", {
          message: {
            cli: "--since last and --checkpoint contradict each other: a file is compared with the whole ledger",
            others: "since and checkpoint contradict each other: a file is compared with the whole ledger",
          },
        });
      }
      return ports.store.read(async ({ ledger }) => {
        const verdict = await verifySince(ledger, ports.crypto, ports.progress);
        const ok = verdict.problems.length === 0;
        const proves = ok ? ["no entry since the checkpoint was changed, reordered or removed from the middle"] : [];
        const open = ["what was before the checkpoint: only its root was looked at (without since everything is)"];
        const does_not_prove = [...open, ...sayWhatItProves(ok, null).does_not_prove];
        return {
          ok,
          ...verdict,
          problems: [...verdict.problems],
          checkpoint: null,
          trust: null,
          proves,
          does_not_prove,
        };
      });
    }
    const opened = input.checkpoint === undefined ? null : await readEnvelope(ports, input.checkpoint);
    const trust = opened === null ? null : await judge(ports, opened, input.trust);
    const checkpoint = opened === null ? null : parseCheckpoint(opened.payload);
    return ports.store.read(async ({ ledger }) => {
      const verdict = await verifyLedger(ledger, ports.crypto, ports.progress);
      const problems = [...verdict.problems];
      if (checkpoint !== null) {
        const extent = {
          ledger_id: await ledger.ledgerId(),
          size: await ledger.size(),
          hashes: (from: number, limit: number) => ledger.readHashes(from, limit),
        };
        const found = await compareWithCheckpoint(ports.crypto, extent, checkpoint);
        if (found !== null) problems.push({ ...found, stream: "", position: checkpoint.tree_size });
      }
      const trusted = trust === null || trust.code === null;
      const ok = problems.length === 0 && trusted;
      const found = {
        ok,
        ...verdict,
        problems,
        checkpoint,
        trust,
        since: null,
        ...sayWhatItProves(ok, trust?.verdict ?? null),
      };
      ports.onVerified?.(found);
      return found;
    });
  },
});

async function readEnvelope({ files }: LedgerPorts, file: string): Promise<OpenedEnvelope> {
  return openEnvelopeFile(await files.read(file, MAX_FILE), file);
}

/** What trust says of an envelope. One of another type is refused, after the rules about keys. */
async function judge(ports: LedgerPorts, opened: OpenedEnvelope, policyFile: string | undefined) {
  const trust = await evaluate(ports, opened, policyFile);
  if (opened.envelope.payloadType === CHECKPOINT_PAYLOAD_TYPE) return trust;
  if (trust.code !== null && trust.code !== "ATTESTATION_TYPE") throw new VerbatimError(trust.code);
  throw new VerbatimError("ATTESTATION_TYPE", { message: "the envelope does not contain a checkpoint" });
}

async function evaluate(ports: LedgerPorts, opened: OpenedEnvelope, policyFile: string | undefined) {
  if (policyFile === undefined) return { verdict: "UNCHECKED" as const, code: null, valid_keys: [], threshold: null };
  const bytes = await ports.files.read(policyFile, MAX_FILE);
  const policy = await parsePolicy(ports.crypto, parseJson(bytes, { file: policyFile }), policyFile);
  const { verdict, code, valid_keys, threshold } = await evaluateTrust(ports.crypto, policy, "CHECKPOINT", opened);
  return { verdict, code, valid_keys: [...valid_keys], threshold };
}

function sayWhatItProves(ok: boolean, verdict: string | null): { proves: string[]; does_not_prove: string[] } {
  const proves = ok ? ["no entry was changed, reordered or removed from the middle of a stream"] : [];
  const missing: string[] = [];
  if (verdict === "TRUSTED") {
    if (ok) proves.push("everything up to the checkpoint is what the holders of the trusted keys vouched for");
  } else if (verdict === "UNCHECKED") {
    missing.push("who made the checkpoint: no signature was checked (use --trust)");
  } else
    missing.push("that nothing is missing at the end: a hash chain cannot show that; compare with a signed checkpoint");
  return { proves, does_not_prove: missing };
}
