import { z } from "zod";
import { count, hashHex } from "../../../core/contracts/index.ts";
import { defineRecords } from "../../../core/contracts/records.ts";
import { expansionSchema, symbolSchema } from "./index.ts";

const BODIES = {
  SYMBOL_ADDED: symbolSchema,
  SYMBOL_REPLACED: z.strictObject({ new: symbolSchema, old: symbolSchema }),
  SYMBOL_REMOVED: symbolSchema,
  INDEX_BUILT: z.strictObject({ index_hash: hashHex, files: count, sections: count }),
  EXPANSION: expansionSchema,
  /** What was asked and why it was refused; long parts by their hash (Catalytic Chat Contract, Error Policy). */
  REFUSED: z.strictObject({
    operation: z.string(),
    code: z.string(),
    message: z.string(),
    where: z.string().optional(),
    input: z.unknown(),
    details: z.unknown().optional(),
    more_unrecorded: z.literal(true).optional(),
  }),
} as const;

/** The records of the stream `context`. */
export const CONTEXT_RECORDS = defineRecords(BODIES);
