import { z } from "zod";
import { defineRecords } from "../contracts/records.ts";
import { count, hashHex, uuid } from "../contracts/shapes.ts";

/** The records of the stream `trust`. */
export const TRUST_RECORDS = defineRecords({
  CHECKPOINT: z.object({
    ledger_id: uuid,
    root_hash: hashHex,
    tree_size: count,
    key_id: hashHex,
    /** The right edge of the tree: roots of its complete subtrees, from which a later verification goes on. */
    frontier: z.array(hashHex).optional(),
  }),
});
