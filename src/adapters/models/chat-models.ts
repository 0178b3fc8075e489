import type { ChatModel, ChatModels, ChatRequest } from "../../core/models.ts";
import { type ChatProtocol, malformed, readAnswer } from "./chat-protocols.ts";
import { type HttpCall, postJson } from "./http-call.ts";

/** Models behind HTTP: Ollama, and everything that speaks the OpenAI chat protocol. */
export const chatModels: ChatModels = { ollama: createOllama, openai: createOpenAi };

function createOllama({ base_url, model }: { readonly base_url: string; readonly model: string }): ChatModel {
  return {
    complete(request) {
      const messages = [{ role: "user", content: request.content }];
      const body = { model, messages, stream: false, options: { temperature: 0, seed: 0 } };
      return ask("ollama", { url: join(base_url, "/api/chat"), headers: {}, body, secret: null }, request);
    },
  };
}

function createOpenAi({
  base_url,
  model,
  api_key,
}: {
  base_url: string;
  model: string;
  api_key: string | null;
}): ChatModel {
  return {
    complete(request) {
      const messages = [{ role: "user", content: request.content }];
      const headers: Record<string, string> = api_key === null ? {} : { authorization: `Bearer ${api_key}` };
      const body = { model, messages, stream: false, temperature: 0 };
      return ask("openai", { url: join(base_url, "/chat/completions"), headers, body, secret: api_key }, request);
    },
  };
}

/** An artifact cannot be empty, so an answer without text is none. */
async function ask(protocol: ChatProtocol, call: HttpCall, request: ChatRequest): Promise<{ readonly text: string }> {
  const { text } = readAnswer(protocol, await postJson(call, request), call);
  if (text === "") throw malformed(call, "the answer has no content");
  return { text };
}

function join(base: string, path: string): string {
  return base.replace(/\/+$/, "") + path;
}
