import type { App } from "../../app/call.ts";
import { listenHttp } from "./listener.ts";

interface RunningHealth extends AsyncDisposable {
  readonly url: string;
}

const BEAT_MS = 1000;
/** A process whose loop did not turn for this long is not alive. */
const ALIVE_MS = 10_000;

/**
 * Says whether this process lives (`/healthz`) and whether it can work (`/readyz`): to whoever reaches the address, without a
 * token and without a word about what is stored.
 */
export async function startHealth(
  app: App,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<RunningHealth> {
  let turned = performance.now();
  const beat = setInterval(() => {
    turned = performance.now();
  }, BEAT_MS);
  beat.unref();
  const answer = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (request.method !== "GET") return say(405, "only GET");
    if (pathname === "/healthz") return performance.now() - turned < ALIVE_MS ? say(200, "alive") : say(503, "stuck");
    if (pathname === "/readyz") return (await isReady(app)) ? say(200, "ready") : say(503, "the store does not answer");
    return say(404, "there are /healthz and /readyz");
  };
  const listening = await listenHttp(answer, host, port);
  return {
    url: listening.url,
    async [Symbol.asyncDispose]() {
      clearInterval(beat);
      await listening.close();
    },
  };
}

/** The store answers, and its schema is the one this program works with. */
async function isReady(app: App): Promise<boolean> {
  return app.call("ledger.streams", {}).then(
    () => true,
    () => false,
  );
}

function say(status: number, text: string): Response {
  return new Response(`${text}\n`, {
    status,
    headers: { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store" },
  });
}
