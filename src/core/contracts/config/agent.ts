import { z } from "zod";
import { AGENT_PATCH_POLICY, patchPolicyConfig, resolvePatchPolicy } from "./patch-policy.ts";

export const agentConfig = z.strictObject({
  patch: patchPolicyConfig.optional(),
  /** Places outside the repository that stay writable for an agent. */
  keep: z.array(z.string().regex(/^(?:~\/|\/|[A-Za-z]:[\\/])/)).optional(),
});

export type AgentConfig = z.infer<typeof agentConfig>;

/** The configuration of `verbatim agent` with every default filled in. */
export function resolveAgent(config: AgentConfig = {}) {
  return { patch: resolvePatchPolicy(config.patch, AGENT_PATCH_POLICY), keep: config.keep ?? [] };
}

export type ResolvedAgent = ReturnType<typeof resolveAgent>;
