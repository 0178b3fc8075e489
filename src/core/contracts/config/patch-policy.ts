import { z } from "zod";
import { count } from "../shapes.ts";

/** What a patch may touch and how large it may be; a given field replaces the default field. */
export const patchPolicyConfig = z.strictObject({
  allow_roots: z.array(z.string()).optional(),
  deny_prefixes: z.array(z.string()).optional(),
  deny_suffixes: z.array(z.string()).optional(),
  max_files: count.optional(),
  max_added_lines: count.optional(),
});

export type PatchPolicyConfig = z.infer<typeof patchPolicyConfig>;
export type PatchPolicy = { readonly [K in keyof PatchPolicyConfig]-?: NonNullable<PatchPolicyConfig[K]> };

// biome-ignore format: thirty suffixes, one per line, say no more than these two lines
const BINARY_SUFFIXES = [
  ".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".ico", ".zip", ".7z", ".tar", ".gz", ".pdf", ".exe", ".dll",
  ".so", ".dylib", ".bin", ".class", ".jar", ".pyc", ".pyo", ".o", ".obj", ".a", ".lib", ".db", ".sqlite", ".sqlite3",
];

/** The defaults of role-driven workflow runs (Artifact Contracts, H). */
export const WORKFLOW_PATCH_POLICY: PatchPolicy = {
  allow_roots: ["."],
  deny_prefixes: [
    ".verbatim/",
    "runs/",
    "build/",
    "dist/",
    "node_modules/",
    "__pycache__/",
    ".gitmodules",
    "verbatim.config.json",
  ],
  deny_suffixes: [".lock", ...BINARY_SUFFIXES],
  max_files: 5,
  max_added_lines: 400,
};

/** The defaults of direct runs: one command by one person, lock files allowed. */
export const AGENT_PATCH_POLICY: PatchPolicy = {
  ...WORKFLOW_PATCH_POLICY,
  deny_suffixes: BINARY_SUFFIXES,
  max_files: 50,
  max_added_lines: 2000,
};

/** A patch policy with the missing fields taken from its defaults. */
export function resolvePatchPolicy(config: PatchPolicyConfig | undefined, defaults: PatchPolicy): PatchPolicy {
  return {
    allow_roots: config?.allow_roots ?? [...defaults.allow_roots],
    deny_prefixes: config?.deny_prefixes ?? [...defaults.deny_prefixes],
    deny_suffixes: config?.deny_suffixes ?? [...defaults.deny_suffixes],
    max_files: config?.max_files ?? defaults.max_files,
    max_added_lines: config?.max_added_lines ?? defaults.max_added_lines,
  };
}
