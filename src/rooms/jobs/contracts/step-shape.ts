import { z } from "zod";
import { count, hashHex, outputName, slice, sourcePath, symbolId, uuid } from "../../../core/contracts/index.ts";

const slicePin = z.strictObject({ slice });

/** A step as planning makes it: six members, and what each operation pins. */
function stepOf<Op extends string, R extends z.ZodType, C extends z.ZodType, O extends string>(
  op: Op,
  refs: R,
  constraints: C,
  output: O,
) {
  return z.strictObject({
    step_id: uuid,
    ordinal: z.int().min(1),
    op: z.literal(op),
    refs,
    constraints,
    expected_outputs: z.record(outputName, z.literal(output)),
  });
}

const bySymbol = z.strictObject({ symbol_id: symbolId });

export const stepSchema = z.discriminatedUnion("op", [
  stepOf("READ_SYMBOL", bySymbol, slicePin, "content_hash"),
  stepOf("READ_SECTION", z.strictObject({ section_id: hashHex }), slicePin, "content_hash"),
  stepOf("WRITE", bySymbol, z.strictObject({ patch_sha256: hashHex }), "patch_sha256"),
  stepOf("EXECUTE", bySymbol, z.strictObject({ jobspec_sha256: hashHex }), "proof_hash"),
]);

const objectId = z.string().regex(/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/);

/** The body of the ledger entry PLAN. Only READ steps have content, so only they have bytes and a content hash. */
export const planSchema = z.strictObject({
  job_id: z.string().regex(/^job_[0-9a-f]{16}$/),
  run_id: uuid,
  plan_hash: hashHex,
  steps: z.array(stepSchema).min(1),
  resolved: z.array(
    z.strictObject({
      ordinal: z.int().min(1),
      section_id: hashHex,
      file_path: sourcePath,
      bytes: count.optional(),
      content_hash: hashHex.optional(),
    }),
  ),
  /** The tree that effects begin from, where files are in git; not part of `plan_hash`. */
  base: z.strictObject({ repository: uuid, commit: objectId, tree: objectId }).optional(),
});

/** A step of a plan. */
export type Step = z.infer<typeof stepSchema>;
/** A message worked out into steps. */
export type Plan = z.infer<typeof planSchema>;
