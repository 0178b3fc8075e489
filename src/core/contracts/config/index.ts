export { type AgentConfig, agentConfig, type ResolvedAgent, resolveAgent } from "./agent.ts";
export {
  CATALYTIC_PROFILES,
  type CatalyticConfig,
  catalyticConfig,
  GUARDS,
  type ResolvedCatalytic,
  resolveCatalytic,
} from "./catalytic.ts";
export {
  CANONICAL_SOURCES,
  type ContextConfig,
  contextConfig,
  type ResolvedContext,
  resolveContext,
} from "./context.ts";
export {
  AGENT_PATCH_POLICY,
  type PatchPolicy,
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
