import { setTimeout as wait } from "node:timers/promises";
import { isVerbatimError, type VerbatimError } from "../../core/errors/index.ts";
import type { ChatAnswer, ChatRequest, Models } from "../../rooms/world/ports.ts";
import { readAnswer } from "./chat-protocols.ts";
import { postJson } from "./http-call.ts";

/** A larger answer is not read to its end: it would be refused anyway. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const PROBE_MS = 2000;
const RETRY_MS = 500;
const MAX_RETRY_MS = 5000;

type Attempt = ChatAnswer | { readonly again: string; readonly after_ms: number } | { readonly unfit: string };

/** Chat models over HTTP: Ollama, and whatever speaks OpenAI's chat completions. */
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
  const { path, body } = request.kind === "ollama" ? toOllama(request) : toOpenAi(request, held);
  const key = request.api_key_env === null ? undefined : env[request.api_key_env];
  if (request.api_key_env !== null && key === undefined) {
    return { down: `the environment variable ${request.api_key_env} is not set` };
  }
  const url = `${request.base_url.replace(/\/+$/, "")}${path}`;
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const call = { url, headers, body, secret: key ?? null };
  try {
    const limits = { signal, timeout_ms: request.timeout_ms, most_bytes: MAX_ANSWER_BYTES };
    const answer = await postJson(call, limits);
    return readAnswer(request.kind === "ollama" ? "ollama" : "openai", answer, call);
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

function toOllama({ model, messages, answer_schema }: ChatRequest): { path: string; body: object } {
  return { path: "/api/chat", body: { model, messages, stream: false, format: answer_schema } };
}

function toOpenAi(
  { model, messages, answer_schema, user, base_url }: ChatRequest,
  held: boolean,
): { path: string; body: object } {
  const format = { type: "json_schema", json_schema: { name: "verbatim_writer", schema: answer_schema } };
  const path = /\/v1\/?$/.test(base_url) ? "/chat/completions" : "/v1/chat/completions";
  const body = { model, messages, stream: false, user };
  return { path, body: held ? { ...body, response_format: format } : body };
}
