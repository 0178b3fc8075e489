import { z } from "zod";
import type { PatchResult } from "../../patch/patch-gate.ts";
import type { PostImage } from "../apply/snapshot.ts";

export const PATCH_GATE_FILE = "artifacts/patch_gate.json";

/** What applying reads of it again. */
export const gateImages = z.object({
  patch_sha256: z.string(),
  post_images: z
    .array(z.object({ path: z.string(), mode: z.string().nullable(), sha256: z.string().nullable() }))
    .optional(),
});

/** artifacts/patch_gate.json: what the gate said about which bytes under which plan. */
export interface PatchGateRecord {
  readonly schema_version: "verbatim-patch-gate-v1";
  readonly patch_sha256: string;
  readonly plan_sha256: string;
  readonly base_tree: string;
  readonly result: PatchResult;
  readonly judged_at: string;
  /** Known once the patch was applied in an isolated copy. */
  readonly post_images?: readonly PostImage[];
}
