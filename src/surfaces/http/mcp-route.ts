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

export interface McpRouteOptions {
  readonly mcp: McpFetch;
  readonly host: string;
  /** Token that the caller must have. */
  readonly token?: string | undefined;
  readonly path: string;
  readonly log: (thrown: unknown) => void;
}

export interface RunningMcp extends AsyncDisposable {
  readonly url: string;
  readonly token: string | null;
  close(): Promise<void>;
}

/** Serves MCP alone at `/mcp`, with the checks of the whole door: host, origin, token. */
export async function startMcpHttp(
  options: Omit<McpRouteOptions, "path"> & { readonly port: number },
): Promise<RunningMcp> {
  const { host, port } = options;
  const token = options.token ?? (isLoopback(host) ? null : `vo_${randomBytes(24).toString("hex")}`);
  const hono = makeMcpRoute({ ...options, token: token ?? undefined, path: "/mcp" });
  const { url, close } = await listenHttp((request) => hono.fetch(request), host, port);
  return { url, token, close, [Symbol.asyncDispose]: close };
}

/** MCP at one address, behind the checks of the door. */
export function makeMcpRoute({ host, mcp, log, token, path }: McpRouteOptions): Hono {
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
    if (token !== undefined) requireToken(call.req.header("authorization"), token);
    await next();
  });
  hono.all(path, (call) => mcp.fetch(call.req.raw));
  return hono;
}

function requireToken(authorization: string | undefined, token: string): void {
  const given = /^Bearer ([\x21-\x7e]{1,512})$/.exec(authorization ?? "")?.[1];
  if (given === undefined || !timingSafeEqual(sha256(given), sha256(token))) throw new VerbatimError("AUTH_REQUIRED");
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
