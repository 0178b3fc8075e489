import { z } from "zod";
import type { CapName } from "../caps.ts";
import { defineContract } from "../contract.ts";
import { agentConfig, type ResolvedAgent, resolveAgent, userAgentConfig } from "./agent.ts";
import type { UntrustedKey } from "./agent-trust.ts";
import { catalyticConfig, type ResolvedCatalytic, resolveCatalytic } from "./catalytic.ts";
import { contextConfig, type ResolvedContext, resolveContext } from "./context.ts";
import { type ResolvedWorkflow, resolveWorkflow, workflowConfig } from "./workflow.ts";

/** `verbatim.config.json`. Every room's part has a file beside this one, because rooms need its type. */
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
  readonly agent: ResolvedAgent & {
    /** What the repository asks for although the user does not trust it. None of it is in the configuration. */
    readonly untrusted: readonly UntrustedKey[];
    readonly caps_at_most: readonly CapName[];
  };
}

export const CONFIG = defineContract({
  room: "hall",
  name: "config",
  title: "Configuration",
  summary: "verbatim.config.json at the root of a workspace. Every key is optional; unknown keys are refused.",
  schema: configSchema,
});

const userConfigSchema = z.strictObject({ $schema: z.string().optional(), agent: userAgentConfig.optional() });

/** The user's own configuration, as they write it. */
export type UserConfig = z.infer<typeof userConfigSchema>;

export const USER_CONFIG = defineContract({
  room: "hall",
  name: "user-config",
  title: "The user's own configuration",
  summary:
    "config.json in the user's configuration folder: what holds for every repository, and which ones are trusted.",
  schema: userConfigSchema,
});

/** Fills in every default. Pure; the defaults are made again, so a caller cannot change them for others. */
export function withDefaults(config: Config): ResolvedConfig {
  return {
    context: resolveContext(config.context),
    catalytic: resolveCatalytic(config.catalytic),
    workflow: resolveWorkflow(config.workflow),
    agent: { ...resolveAgent(config.agent), untrusted: [], caps_at_most: [] },
  };
}
