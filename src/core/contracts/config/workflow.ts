import { z } from "zod";
import { repoFolder, repoPath } from "../shapes.ts";
import { dispatchConfig, providersConfig, resolveDispatch, resolveProviders } from "./dispatch.ts";
import { patchPolicyConfig, resolvePatchPolicy, WORKFLOW_PATCH_POLICY } from "./patch-policy.ts";

const texts = z.array(z.string().min(1));

/** A command of a gate or of the set-up: arguments, never a shell. */
const command = z.strictObject({
  argv: z.array(z.string()).min(1),
  timeout_s: z.int().min(1).optional(),
  cwd: repoFolder.optional(),
});

export const workflowConfig = z.strictObject({
  mandatory_docs: z.array(z.strictObject({ path: repoPath, required: z.boolean() })).optional(),
  runs_root: z
    .string()
    .regex(/^(?:\/|[A-Za-z]:[\\/]|\\\\)/)
    .nullable()
    .optional(),
  librarian: z
    .strictObject({ deny_prefixes: texts.optional(), max_snippet_file_bytes: z.int().min(1).optional() })
    .optional(),
  secrets: z
    .strictObject({
      allow: z.array(repoPath).optional(),
      deny_extra: z.array(z.string().regex(/^\*?[^*/]+\*?$/)).optional(),
    })
    .optional(),
  patch: patchPolicyConfig.optional(),
  limits: z.strictObject({ max_patch_rejections: z.int().min(1).optional() }).optional(),
  require_analysis: z.boolean().optional(),
  verify: z
    .strictObject({
      gates: z.record(z.string().regex(/^[a-z][a-z0-9_-]*$/), z.array(command)).optional(),
      setup: z.array(command).optional(),
      share: z.array(z.strictObject({ path: repoPath, how: z.enum(["copy", "link"]) })).optional(),
      env_allow: texts.optional(),
      isolation: z.enum(["auto", "catalytic", "worktree"]).optional(),
    })
    .optional(),
  guardian: z
    .strictObject({ allow_root_scope: z.boolean().optional(), allow_contract_edits: z.boolean().optional() })
    .optional(),
  behaviors: z
    .strictObject({
      index: repoPath.optional(),
      roots: z.array(repoFolder).optional(),
      exclude_prefixes: texts.optional(),
      exclude_extensions: texts.optional(),
      marker: z.string().min(1).optional(),
      comment_prefixes: texts.nullable().optional(),
      max_file_bytes: z.int().min(1).optional(),
    })
    .optional(),
  providers: providersConfig.optional(),
  dispatch: dispatchConfig.optional(),
  templates_dir: repoPath.nullable().optional(),
  apply: z.enum(["auto", "never"]).optional(),
});

export type WorkflowConfig = z.infer<typeof workflowConfig>;

/** Folders the librarian never reads from; the configuration can only add to them. */
export const LIBRARIAN_DENIED = [".git", "runs", "build", "dist", "node_modules", "__pycache__", ".verbatim"] as const;

/** Artifact Contracts, B.1. */
const MANDATORY_DOCS = [
  { path: "AGENTS.md", required: true },
  { path: "ai_context/00_AI_CONTRACT.md", required: true },
  { path: "ai_context/CTCP_FAST_RULES.md", required: true },
  { path: "docs/00_CORE.md", required: false },
  { path: "PATCH_README.md", required: false },
];

/** The workflow room's configuration with every default filled in. */
export function resolveWorkflow(config: WorkflowConfig = {}) {
  const denied = config.librarian?.deny_prefixes ?? [];
  return {
    mandatory_docs: config.mandatory_docs ?? MANDATORY_DOCS.map((doc) => ({ ...doc })),
    /** Whether the documents are this repository's own choice. */
    names_mandatory_docs: config.mandatory_docs !== undefined,
    runs_root: config.runs_root ?? null,
    librarian: {
      deny_prefixes: denied,
      max_snippet_file_bytes: config.librarian?.max_snippet_file_bytes ?? 268_435_456,
    },
    secrets: { allow: config.secrets?.allow ?? [], deny_extra: config.secrets?.deny_extra ?? [] },
    patch: resolvePatchPolicy(config.patch, WORKFLOW_PATCH_POLICY),
    limits: { max_patch_rejections: config.limits?.max_patch_rejections ?? 10 },
    require_analysis: config.require_analysis ?? false,
    verify: {
      gates: resolveGates(config.verify?.gates ?? {}),
      setup: (config.verify?.setup ?? []).map(resolveCommand),
      share: config.verify?.share ?? [],
      env_allow: config.verify?.env_allow ?? [],
      isolation: config.verify?.isolation ?? "auto",
    },
    guardian: {
      allow_root_scope: config.guardian?.allow_root_scope ?? false,
      allow_contract_edits: config.guardian?.allow_contract_edits ?? false,
    },
    behaviors: resolveBehaviors(config.behaviors, denied),
    providers: resolveProviders(config.providers),
    dispatch: resolveDispatch(config.dispatch),
    templates_dir: config.templates_dir ?? null,
    apply: config.apply ?? "auto",
  };
}

export type ResolvedWorkflow = ReturnType<typeof resolveWorkflow>;

function resolveCommand(given: z.infer<typeof command>) {
  return { argv: given.argv, timeout_s: given.timeout_s ?? 1800, cwd: given.cwd ?? "." };
}

/** A map, because a gate may be called anything its pattern allows, `constructor` included. */
function resolveGates(gates: NonNullable<NonNullable<WorkflowConfig["verify"]>["gates"]>) {
  return new Map(Object.entries(gates).map(([name, commands]) => [name, commands.map(resolveCommand)]));
}

function resolveBehaviors(config: WorkflowConfig["behaviors"] = {}, denied: readonly string[]) {
  const index = config.index ?? "docs/behaviors/INDEX.md";
  const pages = index.includes("/") ? [index.slice(0, index.lastIndexOf("/"))] : [];
  return {
    index,
    roots: config.roots ?? ["."],
    exclude_prefixes: config.exclude_prefixes ?? [...pages, ...LIBRARIAN_DENIED, ...denied],
    exclude_extensions: config.exclude_extensions ?? [".md", ".mdx", ".txt", ".rst", ".adoc", ".json", ".lock"],
    marker: config.marker ?? "BEHAVIOR_ID",
    comment_prefixes: config.comment_prefixes ?? null,
    max_file_bytes: config.max_file_bytes ?? 1024 ** 2,
  };
}
