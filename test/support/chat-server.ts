import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Seen {
  readonly url: string;
  readonly authorization: string | undefined;
  readonly body: { readonly model: string; readonly messages: readonly { readonly content: string }[] };
}

type Answer = (response: ServerResponse, seen: Seen) => void;

/** A local HTTP server that speaks the protocols of Ollama and OpenAI and follows a script. */
export class ModelServer {
  readonly seen: Seen[] = [];
  readonly #server: Server;
  readonly #answers: Answer[] = [];

  private constructor() {
    this.#server = createServer((request, response) => void this.#handle(request, response));
  }

  static async start(): Promise<ModelServer> {
    const server = new ModelServer();
    await new Promise<void>((done) => server.#server.listen(0, "127.0.0.1", done));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The next request gets this answer. */
  next(answer: Answer): this {
    this.#answers.push(answer);
    return this;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Seen["body"];
    const seen = { url: request.url ?? "", authorization: request.headers.authorization, body };
    this.seen.push(seen);
    const answer = this.#answers.shift();
    if (answer === undefined) response.writeHead(500).end("no answer scripted");
    else answer(response, seen);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((done) => this.#server.close(() => done()));
  }
}

const json = (response: ServerResponse, value: unknown, status = 200) =>
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));

export const ollamaSays =
  (text: string): Answer =>
  (response) =>
    json(response, { model: "m", message: { role: "assistant", content: text }, done: true });

export const ollamaStreams =
  (parts: readonly string[], done = true): Answer =>
  (response) => {
    response.writeHead(200, { "content-type": "application/x-ndjson" });
    for (const part of parts) response.write(`${JSON.stringify({ message: { content: part }, done: false })}\n`);
    response.end(done ? `${JSON.stringify({ message: { content: "" }, done: true })}\n` : "");
  };

export const openAiSays =
  (text: string): Answer =>
  (response) =>
    json(response, { choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }] });

export const openAiStreams =
  (parts: readonly string[], done = true): Answer =>
  (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const part of parts)
      response.write(`data: ${JSON.stringify({ choices: [{ delta: { content: part } }] })}\n\n`);
    response.end(done ? "data: [DONE]\n\n" : "");
  };

export const refuses =
  (status: number, text: string): Answer =>
  (response) =>
    response.writeHead(status).end(text);
export const says =
  (text: string, type = "application/json"): Answer =>
  (response) =>
    response.writeHead(200, { "content-type": type }).end(text);
export const redirectsTo =
  (url: string): Answer =>
  (response) =>
    response.writeHead(302, { location: url }).end();
export const breaksOff: Answer = (response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
  response.write('{"choices"');
  setImmediate(() => response.destroy());
};
export const staysSilent: Answer = () => undefined;
