import { setTimeout as wait } from "node:timers/promises";
import { isVerbatimError, type VerbatimError } from "../../core/errors/index.ts";
import type { ChatModel, ChatModels, ChatRequest as ModelRequest } from "../../core/models.ts";
import type { ChatAnswer, ChatRequest, Models } from "../../rooms/world/ports.ts";
import { type ChatProtocol, type ModelAnswer, malformed, readAnswer } from "./chat-protocols.ts";
import { type CallLimits, type HttpCall, postJson } from "./http-call.ts";

/** One question to one model. */
interface Question {
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
async function ask({ protocol, base_url, path, key, body }: Question, limits: CallLimits): Promise<Asked> {
  const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` };
  const call = { url: base_url.replace(/\/+$/, "") + path, headers, body: { ...body, stream: false }, secret: key };
  return { call, answer: readAnswer(protocol, await postJson(call, limits), call) };
}

interface Asked {
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

/** A larger answer is not read to its end: it would be refused anyway. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const PROBE_MS = 2000;
const RETRY_MS = 500;
const MAX_RETRY_MS = 5000;

type Attempt = ChatAnswer | { readonly again: string; readonly after_ms: number } | { readonly unfit: string };

/** The models that write in worlds: asked again where that is worth it, and held to a schema where they can be. */
export function makeModels(env: Readonly<Record<string, string | undefined>>): Models {
  /** Providers that refuse to be held to a schema; what they answer is parsed as strictly as all else. */
  const free = new Set<string>();
  return {
    async chat(request, signal) {
      const place = `${request.base_url} ${request.model}`;
      let first = await attempt(request, env, signal, !free.has(place));
      if ("unfit" in first) {
        free.add(place);
        first = await attempt(request, env, signal, false);
      }
      if ("unfit" in first) return { down: first.unfit };
      if (!("again" in first)) return first;
      if (signal.aborted) return { down: first.again };
      await pause(first.after_ms, signal);
      const second = await attempt(request, env, signal, !free.has(place));
      if ("unfit" in second) return { down: second.unfit };
      return "again" in second ? { down: second.again } : second;
    },
    async isReachable(base_url) {
      try {
        const response = await fetch(base_url, { redirect: "manual", signal: AbortSignal.timeout(PROBE_MS) });
        await response.body?.cancel();
        return true;
      } catch (thrown) {
        // Whatever keeps the request from an answer, nobody is there.
        if (thrown instanceof TypeError || thrown instanceof DOMException) return false;
        throw thrown;
      }
    },
  };
}

/** Ends early when the signal aborts; the next attempt then says that it was cancelled. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await wait(ms, undefined, { signal });
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
  }
}

async function attempt(
  request: ChatRequest,
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
  held: boolean,
): Promise<Attempt> {
  const key = request.api_key_env === null ? null : env[request.api_key_env];
  if (key === undefined) return { down: `the environment variable ${request.api_key_env} is not set` };
  const { base_url, timeout_ms } = request;
  const question = request.kind === "ollama" ? toOllama(request) : toOpenAi(request, held);
  try {
    const limits = { signal, timeout_ms, most_bytes: MAX_ANSWER_BYTES };
    return (await ask({ ...question, base_url, key }, limits)).answer;
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    if (signal.aborted) return { down: "cancelled" };
    return explain(thrown, request.kind === "openai-compatible" && held);
  }
}

/** Whether it is worth asking again: the provider is busy, cannot be reached, or may not know schemas. */
function explain({ code, message, details = {} }: VerbatimError, held: boolean): Attempt {
  const { status, malformed, retry_after } = details;
  if (code === "PROVIDER_TIMEOUT" || malformed === true) return { down: message };
  if (typeof status === "number" && status !== 429 && status < 500) {
    const refused = `the provider refused with ${status}`;
    return held && (status === 400 || status === 422) ? { unfit: refused } : { down: refused };
  }
  const again = typeof status === "number" ? `the provider answered ${status}` : "the provider cannot be reached";
  return { again, after_ms: toPause(retry_after) };
}

function toPause(retryAfter: unknown): number {
  const seconds = typeof retryAfter === "string" ? Number(retryAfter) : Number.NaN;
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds * 1000, MAX_RETRY_MS) : RETRY_MS;
}

type Asking = Pick<Question, "protocol" | "path" | "body">;

function toOllama({ model, messages, answer_schema }: ChatRequest): Asking {
  return { protocol: "ollama", path: "/api/chat", body: { model, messages, format: answer_schema } };
}

function toOpenAi({ model, messages, answer_schema, user, base_url }: ChatRequest, held: boolean): Asking {
  const format = { type: "json_schema", json_schema: { name: "verbatim_writer", schema: answer_schema } };
  const path = /\/v1\/?$/.test(base_url) ? "/chat/completions" : "/v1/chat/completions";
  const body = { model, messages, user };
  return { protocol: "openai", path, body: held ? { ...body, response_format: format } : body };
}
