import type { App } from "../../src/app/call.ts";
import { findOperation } from "../../src/app/call.ts";
import type { Operation } from "../../src/core/operation.ts";
import { WORLD_OPERATIONS, type WorldRoom } from "../../src/rooms/world/operations/index.ts";
import { WorldStreams } from "../../src/surfaces/http/live/stream.ts";
import { listenHttp } from "../../src/surfaces/http/server/listener.ts";
import { makeHttpSurface } from "../../src/surfaces/http/server/server.ts";
import type { WorldRoute } from "../../src/surfaces/http/worlds/world-router.ts";
import { createMcpHttp } from "../../src/surfaces/mcp/http-handler.ts";

export interface Asked {
  /** Without one the caller is nobody. */
  readonly token?: string;
  readonly body?: unknown;
}

export interface Answered {
  readonly status: number;
  /** Status, headers that a program sees, and body. */
  readonly text: string;
}

/** Server-sent events as a client gets them. */
export interface Listening {
  /** Ends when a text was seen. */
  until(text: string): Promise<void>;
  text(): string;
  cancel(): Promise<void>;
}

/** The whole HTTP surface as callers from elsewhere meet it: each of them needs a token. */
export interface CanarySurface extends AsyncDisposable {
  readonly app: App;
  readonly routes: readonly WorldRoute[];
  /** Every route that is registered, whoever added it. */
  readonly registered: readonly string[];
  ask(method: string, path: string, asked?: Asked): Promise<Answered>;
  listen(path: string, token: string): Promise<Listening>;
  /** What the server wrote into its log since the last time. */
  takeLog(): string;
}

export const OWNER_TOKEN = "vo_canary";
const EVERYWHERE = "0.0.0.0";
const HOST = "127.0.0.1";
const MAX_BYTES = 10_000_000;

/** Opens the surface on an app: by calls inside this process, or by a socket. */
export async function openSurface(app: App, by: "call" | "socket"): Promise<CanarySurface> {
  let logged = "";
  const log = (thrown: unknown): void => {
    logged += `${thrown instanceof Error ? `${thrown.stack} ${String(thrown.cause)}` : String(thrown)}\n`;
  };
  const streams = new WorldStreams(app);
  const mcp = createMcpHttp({ app, version: "0.0.0", maxBytes: MAX_BYTES, maxBodyBytes: MAX_BYTES, log });
  const { hono, routes } = await makeHttpSurface(
    { app, version: "0.0.0", host: EVERYWHERE, token: OWNER_TOKEN, mcp, log },
    streams,
  );
  const listening = by === "call" ? null : await listenHttp((request) => hono.fetch(request), HOST, 0);
  const send = async (method: string, path: string, { token, body }: Asked): Promise<Response> => {
    const request = new Request(`${listening?.url ?? `http://${HOST}`}${path}`, {
      method: method.toUpperCase(),
      headers: {
        ...(listening === null ? { Host: HOST } : {}),
        Accept: "application/json, text/event-stream",
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return listening === null ? hono.fetch(request) : fetch(request);
  };
  return {
    app,
    routes,
    registered: [...new Set(hono.routes.map(({ method, path }) => `${method} ${path}`))],
    async ask(method, path, asked = {}) {
      const response = await send(method, path, asked);
      const headers = JSON.stringify([...response.headers].filter(([name]) => name !== "date"));
      return { status: response.status, text: `${response.status} ${headers} ${await response.text()}` };
    },
    async listen(path, token) {
      const { status, body } = await send("get", path, { token });
      if (status !== 200 || body === null) throw new Error(`${path} answers with ${status}`);
      return readEvents(body);
    },
    takeLog() {
      const taken = logged;
      logged = "";
      return taken;
    },
    async [Symbol.asyncDispose]() {
      await streams.close();
      await listening?.close();
      await mcp.close();
    },
  };
}

/** What the surface needs of an app, on the operations of one room alone. */
export function toApp(room: WorldRoom): App {
  const own = new Map(
    (WORLD_OPERATIONS as readonly unknown[] as readonly Operation<WorldRoom>[]).map((one) => [one.name, one]),
  );
  const call = async (name: string, input: unknown) =>
    own.get(name)!.run(room, own.get(name)!.input.parse(input) as never);
  const lines = (name: string, input: unknown) =>
    own.get(name)!.lines!(room, own.get(name)!.input.parse(input) as never);
  return {
    call,
    lines,
    callUnknown: call,
    linesUnknown: lines,
    describe: async (name: string) => (await findOperation(name))!.operation,
  } as unknown as App;
}

function readEvents(stream: ReadableStream<Uint8Array>): Listening {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let seen = "";
  const readOn = async (): Promise<boolean> => {
    const { done, value } = await reader.read();
    if (value !== undefined) seen += decoder.decode(value, { stream: true });
    return done;
  };
  return {
    async until(text) {
      while (!seen.includes(text)) if (await readOn()) throw new Error(`the stream ended before ${text}`);
    },
    text: () => seen,
    cancel: () => reader.cancel(),
  };
}
