import { z } from "zod";
import { defineContract, hashHex } from "../../../core/contracts/index.ts";

export const PIECES_VERSION = "verbatim-pieces-v1";

const pieced = z.strictObject({
  name: z.string().regex(/^[A-Z_]+\.jsonl?$/),
  /** Of the whole. */
  sha256: hashHex,
  bytes: z.int().min(1),
  /** Payloads of the content store, each packed. */
  pieces: z.array(hashHex).min(1),
});

/** PIECES.json: files of a record that are in the content store, piece by piece. */
export const PIECES = defineContract({
  room: "catalytic",
  name: "pieces",
  title: "Pieces of a record",
  summary:
    "PIECES.json: the large files of the record of a view, as pieces in the content store that other records share.",
  schema: z.strictObject({ schema_version: z.literal(PIECES_VERSION), files: z.array(pieced).min(1) }),
});
