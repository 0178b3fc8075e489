import { z } from "zod";
import { hashHex, payloadRef, slice, symbolOrSectionId, uuid } from "../../../core/contracts/index.ts";
import { type BodyOf, defineRecords, type RecordOf } from "../../../core/contracts/records.ts";
import { messageSchema } from "./message-shape.ts";
import { receiptSchema } from "./receipt-shape.ts";
import { planSchema } from "./step-shape.ts";

const jobId = z.string().regex(/^job_[0-9a-f]{16}$/);
const commitId = z.string().regex(/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/);
const messageId = z.string().regex(/^msg_[0-9a-f]{16}$/);

const BODIES = {
  MESSAGE_ACCEPTED: z.strictObject({ job_id: jobId, message: messageSchema, message_id: messageId, run_id: uuid }),
  /** What was refused may be anything, so it is kept whole or by its hash. */
  MESSAGE_REFUSED: z.strictObject({
    message: z.unknown(),
    problems: z.unknown(),
    run_id: z.string(),
    more_unrecorded: z.literal(true).optional(),
  }),
  PLAN: planSchema,
  /** What a WRITE step is about to do, so that another worker can end what was begun. */
  WRITE_INTENT: z.object({ step_id: uuid, base_sha256: hashHex.nullable(), result_sha256: hashHex.nullable() }),
  /** What an attempt is about to push, with the hash of the receipt that will say so. */
  EFFECT_INTENT: z.strictObject({
    step_id: uuid,
    attempt: z.int().min(1),
    ref: z.string().regex(/^refs\/[\x21-\x7e]+$/),
    parent: commitId,
    commit: commitId,
    tree: commitId,
    receipt_hash: hashHex,
  }),
  /** Somebody wants a job to end whose step a worker has. */
  CANCEL_REQUESTED: z.strictObject({ job_id: jobId }),
  EXPANSION: z.strictObject({
    run_id: uuid,
    symbol_or_section_id: symbolOrSectionId,
    slice,
    content_hash: hashHex,
    payload_ref: payloadRef,
  }),
  RECEIPT: receiptSchema,
  BUNDLE_BUILT: z.strictObject({ bundle_id: hashHex, job_id: jobId, root_hash: hashHex }),
} as const;

/** The records of a job's stream. */
export const JOB_RECORDS = defineRecords(BODIES);
type JobRecord = RecordOf<typeof BODIES>;
export type NewJobRecord<K extends JobRecord["kind"]> = BodyOf<typeof BODIES, K>;
