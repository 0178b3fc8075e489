import { setTimeout as wait } from "node:timers/promises";
import { parseJson } from "../../core/canonical/index.ts";
import { readItems, readMember, readText } from "../../core/contracts/index.ts";
import { isVerbatimError, type VerbatimError } from "../../core/errors/index.ts";
import type { ChatAnswer, ChatFacts, ChatRequest, ModelPlace, Models } from "../../rooms/world/ports.ts";
import { ask } from "./chat.ts";
import { postJson } from "./http-call.ts";
import { HELD, type ProviderState, toBody } from "./world-requests.ts";

/** A larger answer is not read to its end: it would be refused anyway. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const PROBE_MS = 2000;
const LIST_MS = 10_000;
const RETRY_MS = 500;
const MAX_RETRY_MS = 5000;
const MOST_MODELS = 500;

type Down = Extract<ChatAnswer, { readonly down: unknown }>["down"];
type Env = Readonly<Record<string, string | undefined>>;
type Attempt = ChatAnswer | { readonly again: Down; readonly after_ms: number; readonly facts: ChatFacts };

/** The models that write in worlds: asked again where that is worth it, and held to a schema where they can be. */
export function makeModels(env: Env): Models {
  /** What is known of each provider and model; what it answers is parsed strictly all the same. */
  const states = new Map<string, ProviderState>();
  return {
    async chat(request, signal) {
      const place = `${request.kind} ${request.base_url} ${request.model}`;
      const state = states.get(place) ?? { held: 0, completion: false, plain: false };
      states.set(place, state);
      const first = await attempt(request, env, signal, state);
      if (!("again" in first)) return first;
      const { again: down, facts } = first;
      if (signal.aborted) return { down, facts };
      await pause(first.after_ms, signal);
      const second = await attempt(request, env, signal, state);
      return "again" in second ? { down: second.again, facts: second.facts } : second;
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
    list: (place) => listModels(place, env),
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

/** Asks once; a provider that does not know what it was sent is asked again with less, never with more. */
async function attempt(request: ChatRequest, env: Env, signal: AbortSignal, state: ProviderState): Promise<Attempt> {
  const key = keyOf(request, env);
  if (typeof key === "object" && key !== null) return { down: key };
  for (;;) {
    const { question, facts: sent } = toBody(request, state);
    const facts: ChatFacts = { ...sent, thinking: 0 };
    try {
      const limits = { signal, timeout_ms: request.timeout_ms, most_bytes: MAX_ANSWER_BYTES };
      const { answer } = await ask({ ...question, base_url: request.base_url, key }, limits);
      const told = { ...facts, thinking: answer.thinking };
      if (answer.refused) {
        return { refused: { code: "WRITER_REFUSED", message: "the model declined to write" }, facts: told };
      }
      const { text, input_tokens, output_tokens, finish } = answer;
      return { text, input_tokens, output_tokens, cut: finish === "length", facts: told };
    } catch (thrown) {
      if (!isVerbatimError(thrown)) throw thrown;
      if (signal.aborted) return { down: { code: "WRITER_UNREACHABLE", message: "cancelled" }, facts };
      if (isUnfit(thrown) && sendLess(request, state, excerptOf(thrown))) continue;
      return explain(thrown, request, facts);
    }
  }
}

/** The key of a provider; null where none is wanted. */
function keyOf({ api_key_env: name }: Pick<ModelPlace, "api_key_env">, env: Env): string | null | Down {
  if (name === null) return null;
  const key = env[name];
  if (key !== undefined && key !== "") return key;
  return { code: "WRITER_KEY_MISSING", message: `the variable ${name} is not set` };
}

function isUnfit({ details = {} }: VerbatimError): boolean {
  return details["status"] === 400 || details["status"] === 422;
}

function excerptOf({ details = {} }: VerbatimError): string {
  return typeof details["excerpt"] === "string" ? details["excerpt"] : "";
}

/** Leaves out what the provider seems not to know; false when there is nothing left to leave out. */
function sendLess(request: ChatRequest, state: ProviderState, excerpt: string): boolean {
  const isOpenAi = request.kind === "openai-compatible";
  if (isOpenAi && !state.completion && excerpt.includes("max_tokens")) {
    state.completion = true;
    return true;
  }
  if (!state.plain && /think|reasoning|chat_template_kwargs/.test(excerpt)) {
    state.plain = true;
    return true;
  }
  if (request.held === null || state.held >= HELD[request.kind].length - 1) return false;
  state.held++;
  return true;
}

/** What a failure means, in words for whoever set the writer up. */
function explain(error: VerbatimError, request: ChatRequest, facts: ChatFacts): Attempt {
  const { code, details = {} } = error;
  const { status, malformed } = details;
  const host = URL.canParse(request.base_url) ? new URL(request.base_url).host : request.base_url;
  const excerpt = excerptOf(error);
  const told = excerpt === "" ? facts : { ...facts, excerpt };
  const down = (failure: Down["code"], message: string): ChatAnswer => ({
    down: { code: failure, message },
    facts: told,
  });
  if (code === "PROVIDER_TIMEOUT") return down("WRITER_TIMEOUT", `no answer within ${request.timeout_ms / 1000} s`);
  if (malformed === true) {
    return down("WRITER_ANSWER_MALFORMED", `${host} answers, but not as a model (${error.message})`);
  }
  if (typeof status !== "number") {
    const named = details["model_error"] === true && excerpt.includes(request.model);
    if (named) return down("WRITER_MODEL_UNKNOWN", `the provider has no model ${request.model}`);
    if (details["model_error"] === true) return down("WRITER_REQUEST_REFUSED", "the provider refused the request");
    const again = { code: "WRITER_UNREACHABLE", message: `nobody answers at ${host}` } as const;
    return { again, after_ms: RETRY_MS, facts: told };
  }
  if (status === 401 || status === 403) return down("WRITER_KEY_REFUSED", "the provider does not accept the key");
  if (status === 404 || (status < 500 && status !== 429 && excerpt.includes(request.model))) {
    return down("WRITER_MODEL_UNKNOWN", `the provider has no model ${request.model}`);
  }
  if (status !== 429 && status < 500) {
    return down("WRITER_REQUEST_REFUSED", `the provider refused with ${status}`);
  }
  const again = { code: "WRITER_BUSY", message: `the provider is busy (${status})` } as const;
  return { again, after_ms: toPause(details["retry_after"]), facts: told };
}

function toPause(retryAfter: unknown): number {
  const seconds = typeof retryAfter === "string" ? Number(retryAfter) : Number.NaN;
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds * 1000, MAX_RETRY_MS) : RETRY_MS;
}

async function listModels(place: ModelPlace, env: Env): ReturnType<Models["list"]> {
  const key = keyOf(place, env);
  if (typeof key === "object" && key !== null) return { down: key };
  const root = place.base_url.replace(/\/+$/, "");
  const path = place.kind === "ollama" ? "/api/tags" : root.endsWith("/v1") ? "/models" : "/v1/models";
  const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` };
  const call = { url: root + path, headers, body: undefined, secret: key };
  const limits = { timeout_ms: LIST_MS, signal: new AbortController().signal, most_bytes: MAX_ANSWER_BYTES };
  try {
    const value = parseJson((await postJson(call, limits)).text);
    const [items, name] =
      place.kind === "ollama" ? [readItems(value, "models"), "name"] : [readItems(value, "data"), "id"];
    return items.slice(0, MOST_MODELS).flatMap((item) => {
      const text = readText(item, name);
      const window = readMember(item, "context_length");
      const window_tokens = typeof window === "number" && Number.isSafeInteger(window) ? window : null;
      return text === null || text === "" ? [] : [{ name: text.slice(0, 200), window_tokens }];
    });
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    const request = { ...place, model: "", timeout_ms: LIST_MS } as ChatRequest;
    const told = explain(thrown, request, { held: "none", not_sent: [], thinking: 0 });
    if ("again" in told) return { down: told.again };
    return "down" in told
      ? { down: told.down }
      : { down: { code: "WRITER_ANSWER_MALFORMED", message: "no list of models" } };
  }
}
