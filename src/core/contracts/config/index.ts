export {
  type CommandConfig,
  NO_PROFILE,
} from "./agent.ts";
export type { AgentPolicyConfig } from "./agent-policy.ts";
export { mergeAgentConfig } from "./agent-trust.ts";
export {
  CATALYTIC_PROFILES,
  catalyticConfig,
  type ResolvedCatalytic,
  resolveCatalytic,
} from "./catalytic.ts";
export { CONFIG, type Config, type ResolvedConfig, USER_CONFIG, type UserConfig, withDefaults } from "./config.ts";
export {
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
} from "./workflow.ts";
