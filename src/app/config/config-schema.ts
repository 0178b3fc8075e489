import { z } from "zod";
import {
  agentConfig,
  catalyticConfig,
  contextConfig,
  type ResolvedAgent,
  type ResolvedCatalytic,
  type ResolvedContext,
  type ResolvedWorkflow,
  resolveAgent,
  resolveCatalytic,
  resolveContext,
  resolveWorkflow,
  workflowConfig,
} from "../../core/contracts/config/index.ts";
import { defineContract } from "../../core/contracts/index.ts";

/** `verbatim.config.json`. Every room's part lives in core/contracts/config, because rooms need its type. */
const configSchema = z.strictObject({
  $schema: z.string().optional(),
  context: contextConfig.optional(),
  catalytic: catalyticConfig.optional(),
  workflow: workflowConfig.optional(),
  agent: agentConfig.optional(),
});

/** The configuration as a user writes it: every key optional. */
export type Config = z.infer<typeof configSchema>;

/** The configuration as the product uses it: every key there. */
export interface ResolvedConfig {
  readonly context: ResolvedContext;
  readonly catalytic: ResolvedCatalytic;
  readonly workflow: ResolvedWorkflow;
  readonly agent: ResolvedAgent;
}

export const CONFIG = defineContract({
  room: "hall",
  name: "config",
  title: "Configuration",
  summary: "verbatim.config.json at the root of a workspace. Every key is optional; unknown keys are refused.",
  schema: configSchema,
});

/** Fills in every default. Pure; the defaults are made again, so a caller cannot change them for others. */
export function withDefaults(config: Config): ResolvedConfig {
  return {
    context: resolveContext(config.context),
    catalytic: resolveCatalytic(config.catalytic),
    workflow: resolveWorkflow(config.workflow),
    agent: resolveAgent(config.agent),
  };
}
