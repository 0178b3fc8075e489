export {
  type AgentConfig,
  agentConfig,
  type CommandConfig,
  NO_PROFILE,
  type ResolvedAgent,
  resolveAgent,
  type UserAgentConfig,
  userAgentConfig,
} from "./agent.ts";
export { type AgentPolicyConfig, agentPolicyConfig } from "./agent-policy.ts";
export { mergeAgentConfig, type UntrustedKey } from "./agent-trust.ts";
export {
  CATALYTIC_PROFILES,
  type CatalyticConfig,
  catalyticConfig,
  type ResolvedCatalytic,
  resolveCatalytic,
} from "./catalytic.ts";
export { CONFIG, type Config, type ResolvedConfig, USER_CONFIG, type UserConfig, withDefaults } from "./config.ts";
export {
  contextConfig,
  OUTLINES,
  type Outline,
  type ResolvedContext,
  resolveContext,
} from "./context.ts";
export {
  type PatchPolicy,
  patchPolicy,
  patchPolicyConfig,
  resolvePatchPolicy,
  WORKFLOW_PATCH_POLICY,
} from "./patch-policy.ts";
export {
  LIBRARIAN_DENIED,
  type ResolvedWorkflow,
  resolveWorkflow,
  type WorkflowConfig,
  workflowConfig,
} from "./workflow.ts";
