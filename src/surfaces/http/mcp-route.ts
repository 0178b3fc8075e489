import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { Hono } from "hono";
import { VerbatimError } from "../../core/errors/index.ts";
import { toErrorBody } from "./failure.ts";
import { allowedHosts, isLoopback, requireOwnHost } from "./host-check.ts";
import { listenHttp } from "./listener.ts";

/** MCP over HTTP, made by another surface and served here. */
export interface McpFetch {
  fetch(request: Request): Promise<Response>;
}

export interface McpHttpOptions {
  readonly mcp: McpFetch;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Token of the owner; off loopback one is made when it is missing. */
  readonly token?: string | undefined;
  /** Folder of the address; unguessable, it lets in who was told and nobody else. */
  readonly secret?: string | undefined;
  readonly log: (thrown: unknown) => void;
}

export interface RunningMcp extends AsyncDisposable {
  readonly url: string;
  readonly token: string | null;
  close(): Promise<void>;
}

/** Serves MCP alone at `/mcp`, with the checks of the whole door: host, origin, token. */
export async function startMcpHttp(options: McpHttpOptions): Promise<RunningMcp> {
  const { host, mcp, log } = options;
  const token = options.token ?? (isLoopback(host) ? null : `vo_${randomBytes(24).toString("hex")}`);
  const allowed = allowedHosts(host);
  const hono = new Hono();
  hono.onError((thrown, call) => {
    const { status, body, headers } = toErrorBody(thrown);
    if (status >= 500) log(thrown);
    return call.json(body, status as 500, headers);
  });
  hono.notFound((call) => call.json(toErrorBody(new VerbatimError("ROUTE_UNKNOWN")).body, 404));
  hono.use(async (call, next) => {
    requireOwnHost(call.req.header("host"), call.req.header("origin"), allowed);
    if (token !== null) requireToken(call.req.header("authorization"), token);
    await next();
  });
  const path = options.secret === undefined ? "" : `/${options.secret}`;
  hono.all(`${path}/mcp`, (call) => mcp.fetch(call.req.raw));
  const listening = await listenHttp((request) => hono.fetch(request), host, options.port);
  const close = () => listening.close();
  return { url: `${listening.url}${path}`, token, close, [Symbol.asyncDispose]: close };
}

function requireToken(authorization: string | undefined, token: string): void {
  const given = /^Bearer ([\x21-\x7e]{1,512})$/.exec(authorization ?? "")?.[1];
  if (given === undefined || !timingSafeEqual(sha256(given), sha256(token))) throw new VerbatimError("AUTH_REQUIRED");
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
