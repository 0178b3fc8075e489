import { z } from "zod";
import { hashHex, uuid } from "../../core/contracts/index.ts";
import { defineRecords } from "../../core/contracts/records.ts";

const commit = z.string().regex(/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/);
const text = z.string();
const landing = { land_id: text, kind: z.enum(["job", "run", "remove"]), subject: text, ref: text, onto: text };

const BODIES = {
  AGENT_QUEUED: z.strictObject({
    run_id: text,
    request_sha256: hashHex,
    goal: text,
    repository: uuid,
    base_commit: commit,
    needs: text,
    tries: z.int().min(1),
  }),
  AGENT_TAKEN: z.strictObject({ run_id: text, n: z.int().min(1) }),
  AGENT_FINISHED: z.strictObject({
    run_id: text,
    /** A state of agent runs, or `lost`. */
    outcome: text,
    candidate: hashHex.nullable(),
    commit: commit.nullable(),
    tree: commit.nullable(),
    ref: text.nullable(),
    package: hashHex.nullable(),
  }),
  LAND_REQUESTED: z.strictObject({ ...landing, source: commit }),
  LAND_INTENT: z.strictObject({ land_id: text, commit, from: commit }),
  LANDED: z.strictObject({ ...landing, commit }),
  LAND_REFUSED: z.strictObject({ ...landing, code: text, message: text }),
  BRANCH_REMOVED: z.strictObject({ ...landing, commit }),
} as const;

/** What workers were asked for besides jobs: runs in `workflow/<run>`, merges in `audit`. */
export const QUEUE_RECORDS = defineRecords(BODIES);
