import { z } from "zod";
import { hashHex, outputName, payloadRef, slice, symbolOrSectionId, uuid } from "../../../core/contracts/index.ts";

/** Catalytic Chat Contract, Receipt. `PARTIAL` is lawful and never produced. */
export const receiptSchema = z.strictObject({
  run_id: uuid,
  step_id: uuid,
  expanded: z.array(z.strictObject({ symbol_or_section_id: symbolOrSectionId, slice, content_hash: hashHex })),
  actions: z
    .array(
      z.strictObject({
        type: z.enum(["READ", "WRITE", "EXECUTE"]),
        target: symbolOrSectionId,
        status: z.enum(["SUCCESS", "FAILURE"]),
        result: z.record(z.string(), z.unknown()),
      }),
    )
    .min(1),
  outputs: z.record(outputName, payloadRef),
  status: z.enum(["SUCCESS", "FAILURE", "PARTIAL"]),
});

/** The immutable record of a step that was done. */
export type Receipt = z.infer<typeof receiptSchema>;
