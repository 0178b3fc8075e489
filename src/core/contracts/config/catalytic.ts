import { z } from "zod";
import { GUARD_REQUESTS } from "../guards.ts";
import { count, hashHex } from "../shapes.ts";

/** The roots of each profile; `cmp-01` has the constants of CMP-01. */
export const CATALYTIC_PROFILES = {
  standard: {
    runs_root: ".verbatim/runs",
    durable_roots: [".verbatim/out"],
    catalytic_roots: [".verbatim/scratch"],
  },
  "cmp-01": {
    runs_root: "LAW/CONTRACTS/_runs",
    durable_roots: ["LAW/CONTRACTS/_runs", "NAVIGATION/CORTEX/_generated", "MEMORY/LLM_PACKER/_packs"],
    catalytic_roots: [
      "LAW/CONTRACTS/_runs/_tmp",
      "NAVIGATION/CORTEX/_generated/_tmp",
      "MEMORY/LLM_PACKER/_packs/_tmp",
      "CAPABILITY/PRIMITIVES/_scratch",
      "THOUGHT/LAB/_tmp",
    ],
  },
} as const;

/** Roots have path rules and codes of their own (PATH_*, CONFIG_ROOT_*), which the room raises. */
const root = z.string();

export const catalyticConfig = z.strictObject({
  profile: z.enum(["standard", "cmp-01"]).optional(),
  runs_root: root.optional(),
  durable_roots: z.array(root).optional(),
  catalytic_roots: z.array(root).optional(),
  forbidden_roots: z.array(root).optional(),
  guard: z.enum(GUARD_REQUESTS).optional(),
  network: z.enum(["inherit", "none"]).optional(),
  memo: z.boolean().optional(),
  tripwire: z
    .strictObject({
      on_hit: z.enum(["fail", "report"]).optional(),
      max_entries: z.int().min(1).optional(),
      noise: z.array(z.string()).optional(),
    })
    .optional(),
  limits: z
    .strictObject({
      max_entries: z.int().min(1).optional(),
      stage_copy_bytes: count.optional(),
      log_bytes: count.optional(),
      quarantine_bytes: count.optional(),
      output_bytes: count.optional(),
    })
    .optional(),
  signing: z
    .strictObject({ key_file: z.string().min(1).optional(), pinned_keys: z.array(hashHex).optional() })
    .optional(),
  writer_skills: z.enum(["warn", "deny"]).optional(),
});

export type CatalyticConfig = z.infer<typeof catalyticConfig>;

const GIB = 1024 ** 3;

/**
 * The catalytic room's configuration with every default filled in. Forbidden roots are the configured ones; the
 * room adds those that are always forbidden.
 */
export function resolveCatalytic(config: CatalyticConfig = {}) {
  const profile = config.profile ?? "standard";
  const roots = CATALYTIC_PROFILES[profile];
  return {
    profile,
    runs_root: config.runs_root ?? roots.runs_root,
    durable_roots: config.durable_roots ?? [...roots.durable_roots],
    catalytic_roots: config.catalytic_roots ?? [...roots.catalytic_roots],
    forbidden_roots: config.forbidden_roots ?? [],
    guard: config.guard ?? "auto",
    network: config.network ?? "inherit",
    memo: config.memo ?? false,
    tripwire: {
      on_hit: config.tripwire?.on_hit ?? "fail",
      max_entries: config.tripwire?.max_entries ?? 250_000,
      noise: config.tripwire?.noise ?? [".git/index", ".git/index.lock", ".git/FETCH_HEAD"],
    },
    limits: {
      max_entries: config.limits?.max_entries ?? 500_000,
      stage_copy_bytes: config.limits?.stage_copy_bytes ?? GIB,
      log_bytes: config.limits?.log_bytes ?? 16 * 1024 ** 2,
      quarantine_bytes: config.limits?.quarantine_bytes ?? GIB,
      output_bytes: config.limits?.output_bytes ?? 16 * GIB,
    },
    signing: { key_file: config.signing?.key_file ?? null, pinned_keys: config.signing?.pinned_keys ?? [] },
    writer_skills: config.writer_skills ?? "warn",
  };
}

export type ResolvedCatalytic = ReturnType<typeof resolveCatalytic>;
