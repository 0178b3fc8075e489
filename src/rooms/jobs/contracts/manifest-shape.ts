import { z } from "zod";
import { count, hashHex } from "../../../core/contracts/index.ts";

export const BUNDLE_VERSION = "5.0.0";
export const BUNDLE_OPS = ["READ_SYMBOL", "READ_SECTION"] as const;
export const OMITTED_OPS = ["WRITE", "EXECUTE"] as const;
export const ARTIFACT_KINDS = ["SYMBOL_SLICE", "SECTION_SLICE"] as const;

/** Bundle Protocol 7: names that never stand at the top of a manifest. */
export const FORBIDDEN_FIELDS = ["timestamp", "created_at", "updated_at", "cwd", "os", "locale"] as const;

const text = z.string();
const id = z.string().min(1);

// Bundle Protocol 2.3. Outputs are free for the verifier; the contract `step` says what ours are.
function bundleStep<Op extends string, R extends z.ZodType>(op: Op, refs: R) {
  return z.strictObject({
    step_id: text,
    ordinal: count,
    op: z.literal(op),
    refs,
    constraints: z.strictObject({ slice: text }),
    expected_outputs: z.record(z.string(), z.unknown()),
  });
}

const bundleStepSchema = z.discriminatedUnion("op", [
  bundleStep("READ_SYMBOL", z.strictObject({ symbol_id: text })),
  bundleStep("READ_SECTION", z.strictObject({ section_id: text })),
]);

/** Bundle Protocol 2.4. */
export const artifactSchema = z.strictObject({
  artifact_id: z.string().regex(/^[0-9a-f]{16}$/),
  kind: z.enum(ARTIFACT_KINDS),
  ref: text,
  slice: text,
  path: text,
  sha256: hashHex,
  bytes: count,
});

function receiptRefs<Ops extends readonly [string, ...string[]]>(ops: Ops) {
  const ref = z.strictObject({ step_id: text, ordinal: count, op: z.enum(ops), receipt_hash: hashHex });
  return z.array(ref).min(1).optional();
}

/** Bundle Protocol 2.2 as strict verification wants it. `checkManifest` judges it with the codes of its own. */
export const manifestSchema = z.strictObject({
  bundle_version: z.literal(BUNDLE_VERSION),
  bundle_id: hashHex,
  run_id: id,
  job_id: id,
  message_id: id,
  plan_hash: hashHex,
  steps: z.array(bundleStepSchema),
  inputs: z.strictObject({ symbols: z.array(text), files: z.array(text), slices: z.array(text) }),
  artifacts: z.array(artifactSchema),
  hashes: z.strictObject({ root_hash: hashHex }),
  provenance: z.strictObject({
    receipts: receiptRefs(BUNDLE_OPS),
    omitted_steps: receiptRefs(OMITTED_OPS),
    signer: z.strictObject({ key_id: hashHex }).optional(),
  }),
});

/** What a bundle's attestation says: an in-toto Statement about the bytes of `bundle.json`. */
export const statementSchema = z.strictObject({
  _type: z.literal("https://in-toto.io/Statement/v1"),
  subject: z
    .array(z.strictObject({ name: z.literal("bundle.json"), digest: z.strictObject({ sha256: hashHex }) }))
    .length(1),
  predicateType: z.literal("urn:verbatim:predicate:bundle:v1"),
  predicate: z.strictObject({
    bundle_id: hashHex,
    bundle_version: z.literal(BUNDLE_VERSION),
    job_id: id,
    message_id: id,
    plan_hash: hashHex,
    root_hash: hashHex,
    run_id: id,
  }),
});

/** `bundle.json`: the steps of a job, its artifacts, and hashes over all of it. */
export type BundleManifest = z.infer<typeof manifestSchema>;
/** A step of a job as its bundle has it. */
export type BundleStep = z.infer<typeof bundleStepSchema>;
/** A file of a bundle: which step it belongs to, its size and its hash. */
export type Artifact = z.infer<typeof artifactSchema>;
/** What the signer of a bundle states about it. */
export type Statement = z.infer<typeof statementSchema>;
