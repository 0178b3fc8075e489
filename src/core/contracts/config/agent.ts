import { z } from "zod";
import { count } from "../shapes.ts";
import { agentPolicyConfig } from "./agent-policy.ts";
import { AGENT_PATCH_POLICY, patchPolicyConfig, resolvePatchPolicy } from "./patch-policy.ts";

const written = z.union([z.string().min(1), z.strictObject({ sh: z.string().min(1) })]);

/** `agent.verify`: how changes of agents are verified where no flag says it. */
const agentVerifyConfig = z.strictObject({
  commands: z.array(written).optional(),
  setup: z.array(z.string().min(1)).optional(),
  base: z.enum(["auto", "view", "copy", "checkout"]).optional(),
  /** A tree with more bytes is not copied. */
  copy_max: count.optional(),
  timeout_s: z.int().min(1).optional(),
  baseline: z.boolean().optional(),
});

export const agentConfig = z.strictObject({
  verify: agentVerifyConfig.optional(),
  policy: agentPolicyConfig.optional(),
  patch: patchPolicyConfig.optional(),
  /** Places outside the repository that stay writable for an agent. */
  keep: z.array(z.string().regex(/^(?:~\/|\/|[A-Za-z]:[\\/])/)).optional(),
});

export type AgentConfig = z.infer<typeof agentConfig>;

/** The configuration of `verbatim agent` with every default filled in. */
export function resolveAgent(config: AgentConfig = {}) {
  const { verify = {} } = config;
  return {
    verify: {
      commands: verify.commands ?? [],
      setup: verify.setup ?? [],
      base: verify.base ?? ("auto" as const),
      copy_max: verify.copy_max ?? 5_000_000_000,
      timeout_s: verify.timeout_s ?? 1800,
      baseline: verify.baseline ?? true,
    },
    policy: config.policy ?? {},
    /** The policy of `workflow new --direct`. */
    patch: resolvePatchPolicy(config.patch, AGENT_PATCH_POLICY),
    /** What somebody wrote under `agent.patch`, which the first generation read. */
    first_patch: config.patch ?? {},
    keep: config.keep ?? [],
  };
}

export type ResolvedAgent = ReturnType<typeof resolveAgent>;
