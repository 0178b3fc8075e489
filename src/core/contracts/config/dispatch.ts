import { z } from "zod";

const PROVIDERS = ["manual_outbox", "local_exec", "api_agent", "ollama_agent", "openai_agent"] as const;
const provider = z.enum(PROVIDERS).optional();

/** Who does which role's work (Artifact Contracts, K). Which provider a role may have is for the room to say. */
export const dispatchConfig = z.strictObject({
  schema_version: z.literal("ctcp-dispatch-config-v1").optional(),
  mode: z.enum(PROVIDERS).optional(),
  role_providers: z
    .strictObject({
      librarian: provider,
      chair: provider,
      contract_guardian: provider,
      cost_controller: provider,
      patchmaker: provider,
      fixer: provider,
      researcher: provider,
    })
    .optional(),
  budgets: z.strictObject({ max_outbox_prompts: z.int().min(1).optional() }).optional(),
});

export type DispatchConfig = z.infer<typeof dispatchConfig>;

/** The dispatch configuration a run begins with. */
export function resolveDispatch(config: DispatchConfig = {}) {
  return {
    schema_version: "ctcp-dispatch-config-v1" as const,
    mode: config.mode ?? "manual_outbox",
    role_providers: config.role_providers ?? { librarian: "local_exec", contract_guardian: "local_exec" },
    budgets: { max_outbox_prompts: config.budgets?.max_outbox_prompts ?? 20 },
  };
}

const argv = z.array(z.string()).min(1);
const seconds = z.int().min(1).optional();

/** How agents are reached (Artifact Contracts, K). Keys come from the environment and are never configured. */
export const providersConfig = z.strictObject({
  api_agent: z
    .strictObject({
      plan_cmd: argv.optional(),
      patch_cmd: argv.optional(),
      agent_cmd: argv.optional(),
      timeout_s: seconds,
      env_allow: z.array(z.string().min(1)).optional(),
    })
    .optional(),
  ollama_agent: z
    .strictObject({ base_url: z.string().min(1).optional(), model: z.string().min(1), timeout_s: seconds })
    .optional(),
  openai_agent: z
    .strictObject({
      base_url: z.string().min(1),
      model: z.string().min(1),
      api_key_env: z.string().min(1).optional(),
      timeout_s: seconds,
    })
    .optional(),
});

export type ProvidersConfig = z.infer<typeof providersConfig>;

const TIMEOUT_S = 600;

/** The configured providers with their defaults; null for one that is not configured. */
export function resolveProviders({ api_agent, ollama_agent, openai_agent }: ProvidersConfig = {}) {
  return {
    api_agent: {
      plan_cmd: api_agent?.plan_cmd ?? null,
      patch_cmd: api_agent?.patch_cmd ?? null,
      agent_cmd: api_agent?.agent_cmd ?? null,
      timeout_s: api_agent?.timeout_s ?? TIMEOUT_S,
      env_allow: api_agent?.env_allow ?? [],
    },
    ollama_agent:
      ollama_agent === undefined
        ? null
        : {
            base_url: ollama_agent.base_url ?? "http://localhost:11434",
            model: ollama_agent.model,
            timeout_s: ollama_agent.timeout_s ?? TIMEOUT_S,
          },
    openai_agent:
      openai_agent === undefined
        ? null
        : {
            base_url: openai_agent.base_url,
            model: openai_agent.model,
            api_key_env: openai_agent.api_key_env ?? "OPENAI_API_KEY",
            timeout_s: openai_agent.timeout_s ?? TIMEOUT_S,
          },
  };
}
