import type { ServeHealth } from "../../../app/compose/compose.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { listenHttp } from "./listener.ts";

const BEAT_MS = 1000;
/** A process whose loop did not turn for this long is not alive. */
const ALIVE_MS = 10_000;

/**
 * Says whether this process lives (`/healthz`), whether it can work (`/readyz`), and how much there is to do (`/metrics`): to
 * whoever reaches the address, without a token and without a word about what is stored.
 */
export const startHealth: ServeHealth = async (place, facts) => {
  const { host, port } = toAddress(place);
  let turned = performance.now();
  let lag = 0;
  const beat = setInterval(() => {
    const now = performance.now();
    lag = Math.max(0, now - turned - BEAT_MS);
    turned = now;
  }, BEAT_MS);
  beat.unref();
  const answer = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (request.method !== "GET") return say(405, "only GET\n");
    if (pathname === "/healthz") {
      return performance.now() - turned < ALIVE_MS ? say(200, "alive\n") : say(503, "stuck\n");
    }
    if (pathname === "/readyz") {
      return (await facts.isReady()) ? say(200, "ready\n") : say(503, "the store does not answer\n");
    }
    if (pathname === "/metrics") return say(200, await facts.metrics(lag));
    return say(404, "there are /healthz, /readyz and /metrics\n");
  };
  const listening = await listenHttp(answer, host, port);
  return {
    url: listening.url,
    async [Symbol.asyncDispose]() {
      clearInterval(beat);
      await listening.close();
    },
  };
};

/** HOST:PORT; an address with colons stands in brackets. */
export function toAddress(text: string): { readonly host: string; readonly port: number } {
  const found = /^(?:\[([0-9a-f:]+)\]|([^\s:[\]]+)):(\d{1,5})$/i.exec(text);
  const port = Number(found?.[3]);
  if (found !== null && port <= 65_535) return { host: found[1] ?? found[2]!, port };
  const fix = "Use HOST:PORT; an address with colons stands in brackets.";
  throw new VerbatimError("USAGE", { message: `${text} is not an address like 127.0.0.1:9464`, fix });
}

function say(status: number, text: string): Response {
  return new Response(text, {
    status,
    headers: { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store" },
  });
}
