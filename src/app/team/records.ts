import { z } from "zod";
import { uuid } from "../../core/contracts/index.ts";
import { defineRecords } from "../../core/contracts/records.ts";
import { WORKSPACE_ROLES } from "../../core/operation.ts";

const BODIES = {
  TOKEN_ADDED: z.strictObject({ name: z.string(), role: z.enum(WORKSPACE_ROLES), expires: z.string() }),
  TOKEN_REVOKED: z.strictObject({ name: z.string() }),
  REPOSITORY_ADDED: z.strictObject({
    id: uuid,
    name: z.string(),
    default_branch: z.string(),
    roots: z.array(z.string()),
  }),
  IMPORTED: z.strictObject({ tree_size: z.int().min(0), root_hash: z.string() }),
  RESTORED: z.strictObject({
    incarnation: uuid,
    before: uuid,
    tree_size: z.int().min(0),
    root_hash: z.string(),
    backup_sha256: z.string(),
  }),
} as const;

/** What was changed about a workspace itself, and by whom. */
export const AUDIT_RECORDS = defineRecords(BODIES);

/** The stream of these records. */
export const AUDIT_STREAM = "audit";
