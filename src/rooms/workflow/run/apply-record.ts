import { parseJson } from "../../../core/canonical/index.ts";
import type { Run } from "./run.ts";

export const PATCH_APPLY_FILE = "artifacts/patch_apply.json";

/** artifacts/patch_apply.json: what the repository's paths were and are. */
export interface PatchApplyRecord {
  readonly schema_version: "verbatim-patch-apply-v1";
  readonly patch_sha256: string;
  readonly base_commit: string;
  readonly snapshot: string;
  readonly files: readonly {
    readonly path: string;
    readonly pre: { readonly mode: string | null; readonly sha256: string | null };
    readonly post: { readonly mode: string | null; readonly sha256: string | null };
  }[];
  readonly applied_at: string;
}

/** What the last apply of a run wrote down, or null. */
export function readApplyRecord(run: Run): PatchApplyRecord | null {
  const bytes = run.read(PATCH_APPLY_FILE);
  return bytes === null ? null : (parseJson(bytes) as unknown as PatchApplyRecord);
}
