import { VerbatimError } from "../../core/errors/index.ts";

export interface HttpCall {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** Never shown anywhere. */
  readonly secret: string | null;
}

/** Time and size that an answer may take. */
export interface CallLimits {
  readonly timeout_ms: number;
  readonly signal: AbortSignal;
  /** More answer than this is refused. */
  readonly most_bytes: number;
}

export interface HttpAnswer {
  readonly type: string;
  readonly text: string;
}

const SHOWN = 300;

/**
 * Posts JSON, or asks for it where there is no body, and reads the whole answer, within the request's time and size. Redirects are refused, so a key is sent
 * to the configured host only.
 */
export async function postJson(call: HttpCall, request: CallLimits): Promise<HttpAnswer> {
  const timeout = AbortSignal.timeout(request.timeout_ms);
  const signal = AbortSignal.any([request.signal, timeout]);
  try {
    const response = await fetch(call.url, {
      ...(call.body === undefined
        ? { method: "GET", headers: call.headers }
        : {
            method: "POST",
            headers: { "content-type": "application/json", ...call.headers },
            body: JSON.stringify(call.body),
          }),
      redirect: "error",
      signal,
    });
    const text = await readBody(response, request.most_bytes);
    if (!response.ok) {
      throw failed(call, `HTTP ${response.status}: ${mask(text.slice(0, SHOWN), call.secret)}`, {
        status: response.status,
        retry_after: response.headers.get("retry-after"),
        excerpt: mask(text.slice(0, SHOWN), call.secret),
      });
    }
    return { type: response.headers.get("content-type") ?? "", text };
  } catch (thrown) {
    if (thrown instanceof VerbatimError) throw thrown;
    if (timeout.aborted) {
      throw new VerbatimError("PROVIDER_TIMEOUT", {
        message: `no complete answer within ${request.timeout_ms / 1000} s`,
        where: toHost(call.url),
      });
    }
    throw failed(call, mask(describe(thrown), call.secret), {});
  }
}

async function readBody(response: Response, most: number): Promise<string> {
  const decoder = new TextDecoder();
  let [text, size] = ["", 0];
  for await (const chunk of response.body ?? []) {
    size += (chunk as Uint8Array).length;
    if (size > most) {
      throw new VerbatimError("PROVIDER_FAILED", {
        message: `the answer is larger than ${most} bytes`,
        details: { malformed: true },
      });
    }
    text += decoder.decode(chunk as Uint8Array, { stream: true });
  }
  return text + decoder.decode();
}

/** A failure of the provider, without anything that could carry a key. */
export function failed(call: HttpCall, message: string, details: Readonly<Record<string, unknown>>): VerbatimError {
  return new VerbatimError("PROVIDER_FAILED", { message, where: toHost(call.url), details });
}

function toHost(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : "the configured base_url";
}

// The cause of a failed fetch says more than the error itself: refused, reset, unknown host.
function describe(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const cause = thrown.cause instanceof Error ? `: ${thrown.cause.message}` : "";
  return `${thrown.message}${cause}`;
}

function mask(text: string, secret: string | null): string {
  return secret === null || secret === "" ? text : text.replaceAll(secret, "***");
}
