import type { ChatRequest } from "../ports.ts";
import { budgetOf, type Settings } from "../settings.ts";
import { DEFAULT_ADDRESS, samplingOf, type WriterSettings } from "./writer-settings.ts";

/** What a writer's model is asked, as its settings say. */
export function toChatRequest(
  settings: Settings,
  writer: WriterSettings,
  call: Pick<ChatRequest, "messages" | "held" | "user">,
): ChatRequest {
  const kind = writer.kind === "scripted" ? "ollama" : writer.kind;
  return {
    ...call,
    kind,
    base_url: writer.base_url ?? DEFAULT_ADDRESS[kind],
    model: writer.model ?? "",
    timeout_ms: writer.timeout_ms,
    api_key_env: writer.api_key_env,
    // A model that is held to one object cannot think aloud before it, and no prose is an object.
    held: writer.reply === "json" ? call.held : null,
    thinking: writer.thinking === "on",
    dialect: writer.dialect,
    sampling: samplingOf(settings, writer),
    window_tokens: settings.context.window_tokens,
    most_tokens: budgetOf(settings).output_reserve,
  };
}
