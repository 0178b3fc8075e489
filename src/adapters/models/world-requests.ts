import { compareCodePoints } from "../../core/canonical/index.ts";
import type { ChatFacts, ChatRequest } from "../../rooms/world/ports.ts";
import type { Question } from "./chat.ts";

/** What a provider may be held to, the strictest first. */
export const HELD = {
  ollama: ["schema", "json_object", "none"],
  "openai-compatible": ["strict", "schema", "json_object", "none"],
} as const;

/** What a provider turned out not to take. */
export interface ProviderState {
  /** How far down the ladder it was asked. */
  held: number;
  /** It wants `max_completion_tokens`. */
  completion: boolean;
  /** It knows nothing of thinking. */
  plain: boolean;
}

interface Asking {
  readonly question: Pick<Question, "protocol" | "path" | "body">;
  readonly facts: Pick<ChatFacts, "held" | "not_sent">;
}

/** What a provider is sent, as far as it is known to take it. */
export function toBody(request: ChatRequest, state: ProviderState): Asking {
  return request.kind === "ollama" ? toOllama(request, state) : toOpenAi(request, state);
}

const OLLAMA_SAMPLING = [
  "temperature",
  "top_p",
  "min_p",
  "top_k",
  "repeat_penalty",
  "presence_penalty",
  "frequency_penalty",
  "seed",
  "stop",
];
const OPENAI_SAMPLING = ["temperature", "top_p", "presence_penalty", "frequency_penalty", "seed", "stop"];
const MORE = [...OPENAI_SAMPLING, "min_p", "top_k", "repeat_penalty"];
/** What each dialect knows of sampling, and by which name. */
const SAMPLING: Readonly<Record<ChatRequest["dialect"], readonly string[]>> = {
  openai: OPENAI_SAMPLING,
  "llama.cpp": MORE,
  vllm: MORE,
  openrouter: MORE,
};
const RENAMED: Readonly<Record<string, string>> = {
  "vllm repeat_penalty": "repetition_penalty",
  "openrouter repeat_penalty": "repetition_penalty",
};

/** What is set and known is sent; what is set and not known is named. */
function toSampling(request: ChatRequest, known: readonly string[], dialect: string) {
  const set = Object.entries(request.sampling ?? {}).filter(([, value]) => value !== null);
  const sent = set.filter(([name]) => known.includes(name));
  return {
    sampling: Object.fromEntries(sent.map(([name, value]) => [RENAMED[`${dialect} ${name}`] ?? name, value])),
    not_sent: set
      .map(([name]) => name)
      .filter((name) => !known.includes(name))
      .sort(compareCodePoints),
  };
}

function toOllama(request: ChatRequest, state: ProviderState): Asking {
  const { model, messages, held, window_tokens, most_tokens, thinking } = request;
  const step = held === null ? "none" : HELD.ollama[state.held]!;
  const { sampling, not_sent } = toSampling(request, OLLAMA_SAMPLING, "ollama");
  const format = step === "schema" ? { format: held!.plain } : step === "json_object" ? { format: "json" } : {};
  const options = { ...sampling, num_ctx: window_tokens, num_predict: most_tokens };
  const think = state.plain ? {} : { think: thinking };
  return {
    question: { protocol: "ollama", path: "/api/chat", body: { model, messages, options, ...think, ...format } },
    facts: { held: step, not_sent: state.plain ? [...not_sent, "thinking"] : not_sent },
  };
}

function toOpenAi(request: ChatRequest, state: ProviderState): Asking {
  const { model, messages, held, user, base_url, dialect, most_tokens } = request;
  const step = held === null ? "none" : HELD["openai-compatible"][state.held]!;
  const { sampling, not_sent } = toSampling(request, SAMPLING[dialect], dialect);
  const think = toThinking(request);
  const most = state.completion ? { max_completion_tokens: most_tokens } : { max_tokens: most_tokens };
  const path = /\/v1\/?$/.test(base_url) ? "/chat/completions" : "/v1/chat/completions";
  const body = {
    model,
    messages,
    user,
    ...most,
    ...sampling,
    ...(state.plain ? {} : think),
    ...toFormat(request, step),
  };
  const isLess = state.plain && Object.keys(think).length > 0;
  return {
    question: { protocol: "openai", path, body },
    facts: { held: step, not_sent: isLess ? [...not_sent, "thinking"] : not_sent },
  };
}

/** How each dialect is told not to think; the protocol itself has no word for it. */
function toThinking({ dialect, thinking }: ChatRequest): object {
  if (dialect === "openrouter") return { reasoning: { enabled: thinking } };
  return dialect === "openai" ? {} : { chat_template_kwargs: { enable_thinking: thinking } };
}

function toFormat({ held }: ChatRequest, step: string): object {
  const name = "verbatim_writer";
  switch (step) {
    case "strict":
      return { response_format: { type: "json_schema", json_schema: { name, strict: true, schema: held!.strict } } };
    case "schema":
      return { response_format: { type: "json_schema", json_schema: { name, schema: held!.plain } } };
    case "json_object":
      return { response_format: { type: "json_object" } };
    default:
      return {};
  }
}
