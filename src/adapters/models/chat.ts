import type { ChatModel, ChatModels, ChatRequest as ModelRequest } from "../../core/models.ts";
import { type ChatProtocol, type ModelAnswer, malformed, readAnswer } from "./chat-protocols.ts";
import { type CallLimits, type HttpCall, postJson } from "./http-call.ts";

/** One question to one model. */
export interface Question {
  readonly protocol: ChatProtocol;
  readonly base_url: string;
  readonly path: string;
  readonly key: string | null;
  readonly body: object;
}

/**
 * Asks a model once: Ollama, or whatever speaks OpenAI's chat completions. Failures are PROVIDER_FAILED or
 * PROVIDER_TIMEOUT and never carry a key.
 */
export async function ask({ protocol, base_url, path, key, body }: Question, limits: CallLimits): Promise<Asked> {
  const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` };
  const call = { url: base_url.replace(/\/+$/, "") + path, headers, body: { ...body, stream: false }, secret: key };
  return { call, answer: readAnswer(protocol, await postJson(call, limits), call) };
}

export interface Asked {
  readonly call: HttpCall;
  readonly answer: ModelAnswer;
}

/** The models of workflow roles: asked once, because the run itself decides whether to ask again. */
export const chatModels: ChatModels = {
  ollama: ({ base_url, model }) =>
    toModel((messages) => {
      const body = { model, messages, options: { temperature: 0, seed: 0 } };
      return { protocol: "ollama", base_url, path: "/api/chat", key: null, body };
    }),
  openai: ({ base_url, model, api_key }) =>
    toModel((messages) => {
      const body = { model, messages, temperature: 0 };
      return { protocol: "openai", base_url, path: "/chat/completions", key: api_key, body };
    }),
};

function toModel(toQuestion: (messages: readonly object[]) => Question): ChatModel {
  return {
    async complete(request: ModelRequest) {
      const { call, answer } = await ask(toQuestion([{ role: "user", content: request.content }]), request);
      // An artifact cannot be empty, so an answer without text is none.
      if (answer.text === "") throw malformed(call, "the answer has no content");
      return { text: answer.text };
    },
  };
}
