import { setTimeout as wait } from "node:timers/promises";
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from "../../core/canonical/index.ts";
import { isVerbatimError } from "../../core/errors/index.ts";
import type { ChatAnswer, ChatRequest, Models } from "../../rooms/world/ports.ts";

/** A larger answer is not read to its end: it would be refused anyway. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const PROBE_MS = 2000;
const RETRY_MS = 500;
const MAX_RETRY_MS = 5000;

type Attempt = ChatAnswer | { readonly again: string; readonly after_ms: number };

/** Chat models over HTTP: Ollama, and whatever speaks OpenAI's chat completions. */
export function makeModels(env: Readonly<Record<string, string | undefined>>): Models {
  return {
    async chat(request, signal) {
      const first = await attempt(request, env, signal);
      if (!("again" in first)) return first;
      if (signal.aborted) return { down: first.again };
      await pause(first.after_ms, signal);
      const second = await attempt(request, env, signal);
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
): Promise<Attempt> {
  const { path, body } = request.kind === "ollama" ? toOllama(request) : toOpenAi(request);
  const key = request.api_key_env === null ? undefined : env[request.api_key_env];
  if (request.api_key_env !== null && key === undefined) {
    return { down: `the environment variable ${request.api_key_env} is not set` };
  }
  try {
    const response = await fetch(`${request.base_url.replace(/\/+$/, "")}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
      body: JSON.stringify(body),
      redirect: "error",
      signal: AbortSignal.any([signal, AbortSignal.timeout(request.timeout_ms)]),
    });
    if (response.status === 429 || response.status >= 500) {
      await response.body?.cancel();
      return { again: `the provider answered ${response.status}`, after_ms: retryAfter(response) };
    }
    if (!response.ok) {
      await response.body?.cancel();
      return { down: `the provider refused with ${response.status}` };
    }
    const text = await readBounded(response);
    return text === null ? { down: "the answer is too large" } : toAnswer(request.kind, text);
  } catch (thrown) {
    if (signal.aborted) return { down: "cancelled" };
    if (thrown instanceof DOMException && thrown.name === "TimeoutError") {
      return { down: `no answer within ${request.timeout_ms} ms` };
    }
    return { again: "the provider cannot be reached", after_ms: RETRY_MS };
  }
}

function toOllama({ model, messages, answer_schema }: ChatRequest): { path: string; body: object } {
  return { path: "/api/chat", body: { model, messages, stream: false, format: answer_schema } };
}

function toOpenAi({ model, messages, answer_schema, user, base_url }: ChatRequest): { path: string; body: object } {
  const format = { type: "json_schema", json_schema: { name: "verbatim_writer", schema: answer_schema } };
  const path = /\/v1\/?$/.test(base_url) ? "/chat/completions" : "/v1/chat/completions";
  return { path, body: { model, messages, stream: false, user, response_format: format } };
}

function retryAfter(response: Response): number {
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds * 1000, MAX_RETRY_MS) : RETRY_MS;
}

async function readBounded(response: Response): Promise<string | null> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.byteLength;
    if (bytes > MAX_ANSWER_BYTES) return null;
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

function toAnswer(kind: ChatRequest["kind"], text: string): ChatAnswer {
  let value: JsonValue;
  try {
    value = parseJson(text);
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    return { down: "the provider's answer is not JSON" };
  }
  const root = isJsonObject(value) ? value : {};
  const message = kind === "ollama" ? root["message"] : firstChoice(root);
  const content = isJsonObject(message) ? message["content"] : undefined;
  if (typeof content !== "string") return { down: "the provider's answer has no message" };
  const usage = isJsonObject(root["usage"]) ? root["usage"] : root;
  return {
    text: content,
    input_tokens: toCount(usage[kind === "ollama" ? "prompt_eval_count" : "prompt_tokens"]),
    output_tokens: toCount(usage[kind === "ollama" ? "eval_count" : "completion_tokens"]),
  };
}

function firstChoice(root: JsonObject): JsonValue | undefined {
  const choices = Array.isArray(root["choices"]) ? (root["choices"] as JsonValue[]) : [];
  const [first] = choices;
  return isJsonObject(first) ? first["message"] : undefined;
}

function toCount(value: JsonValue | undefined): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
