import { z } from "zod";
import { readRecordFile } from "../record/record-file.ts";
import type { Run } from "../run.ts";

export const PATCH_APPLY_FILE = "artifacts/patch_apply.json";

const image = z.object({ mode: z.string().nullable(), sha256: z.string().nullable() });

const applyRecord = z.object({
  schema_version: z.literal("verbatim-patch-apply-v1"),
  patch_sha256: z.string(),
  base_commit: z.string(),
  snapshot: z.string(),
  files: z.array(z.object({ path: z.string(), pre: image, post: image })),
  applied_at: z.string(),
});

/** artifacts/patch_apply.json: what the repository's paths were and are. */
export type PatchApplyRecord = z.infer<typeof applyRecord>;

/** What the last apply of a run wrote down, or null. */
export function readApplyRecord(run: Run): PatchApplyRecord | null {
  return readRecordFile(applyRecord, run, PATCH_APPLY_FILE);
}
