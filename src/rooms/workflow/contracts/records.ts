import { z } from "zod";
import { hashHex } from "../../../core/contracts/index.ts";
import { type BodyOf, defineRecords, type RecordOf } from "../../../core/contracts/records.ts";

const BODIES = {
  /** A line of events.jsonl; `findEventProblems` judges it with the codes of its own. */
  WORKFLOW_EVENT: z.looseObject({}),
  /** The receipt of a pack: hashes of the request, of the pack, and of every file's content. */
  CONTEXT_PACK: z.strictObject({
    request_sha256: hashHex,
    pack_sha256: hashHex,
    files: z.array(z.strictObject({ path: z.string(), sha256: hashHex })),
  }),
} as const;

/** The records that the workflow room writes to the stream of a run. */
export const WORKFLOW_RECORDS = defineRecords(BODIES);
export type WorkflowRecord = RecordOf<typeof BODIES>;
export type NewWorkflowRecord<K extends WorkflowRecord["kind"]> = BodyOf<typeof BODIES, K>;
