export { type AgentConfig, agentConfig, type ResolvedAgent, resolveAgent } from "./agent.ts";
export {
  type CatalyticConfig,
  catalyticConfig,
  type ResolvedCatalytic,
  resolveCatalytic,
} from "./catalytic.ts";
export {
  type ContextConfig,
  contextConfig,
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
