import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";

/** What the stand-in answers: the content of a message, a status, or nothing at all. */
export type ModelReply =
  | string
  | { readonly status: number; readonly says?: string }
  | { readonly hang: true }
  | { readonly body: string; readonly type?: string };

/** A provider that speaks Ollama's and OpenAI's chat protocols and follows a script. */
export interface ModelServer extends AsyncDisposable {
  readonly url: string;
  readonly replies: ModelReply[];
  readonly requests: {
    readonly path: string;
    readonly headers: IncomingMessage["headers"];
    readonly body: Record<string, unknown>;
  }[];
}

/** Starts the stand-in; without a reply left it answers `no_write`. */
export async function startModelServer(...replies: ModelReply[]): Promise<ModelServer> {
  const requests: ModelServer["requests"] = [];
  const server: Server = createServer((request, response) => void reply(request, response));
  const reply = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    // Somebody looks whether anyone is there at all.
    if (request.method === "GET" && request.url === "/") {
      response.writeHead(200).end();
      return;
    }
    const sent = await text(request);
    const body = (sent === "" ? {} : JSON.parse(sent)) as Record<string, unknown>;
    requests.push({ path: request.url ?? "", headers: request.headers, body });
    const next = replies.shift() ?? '{"no_write":{}}';
    if (typeof next === "object" && "hang" in next) return;
    if (typeof next === "object" && "status" in next) {
      response.writeHead(next.status, { "retry-after": "0" }).end(next.says ?? "");
      return;
    }
    const content = typeof next === "string" ? next : next.body;
    const isOllama = request.url === "/api/chat";
    const answer = isOllama
      ? { message: { role: "assistant", content }, prompt_eval_count: 10, eval_count: 5 }
      : { choices: [{ message: { role: "assistant", content } }], usage: { prompt_tokens: 10, completion_tokens: 5 } };
    response.writeHead(200, { "content-type": (typeof next === "object" && next.type) || "application/json" });
    response.end(typeof next === "object" ? next.body : JSON.stringify(answer));
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address() as { readonly port: number };
  return {
    url: `http://127.0.0.1:${address.port}`,
    replies,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
