import { z } from "zod";
import { count } from "../shapes.ts";

/** What a patch may touch and how large it may be (Artifact Contracts H). */
export const patchPolicy = z.strictObject({
  allow_roots: z.array(z.string()),
  deny_prefixes: z.array(z.string()),
  deny_suffixes: z.array(z.string()),
  max_files: count,
  max_added_lines: count,
});

/** A policy in a configuration; a given field replaces the default field. */
export const patchPolicyConfig = patchPolicy.partial();

type Policy = z.infer<typeof patchPolicy>;
type PatchPolicyConfig = z.infer<typeof patchPolicyConfig>;
/** Which paths a patch may change, and how large it may be. */
export type PatchPolicy = { readonly [K in keyof Policy]: Readonly<Policy[K]> };

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
export function resolvePatchPolicy(config: PatchPolicyConfig | undefined, defaults: PatchPolicy): Policy {
  // A copy, so that nobody who changes a list of its own changes the defaults.
  return structuredClone({ ...defaults, ...config }) as Policy;
}
