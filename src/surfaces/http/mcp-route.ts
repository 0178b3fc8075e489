import { Hono } from "hono";
import { VerbatimError } from "../../core/errors/index.ts";
import {
  type AccessOptions,
  bearerOf,
  chooseToken,
  isSameToken,
  NO_TOKEN_WARNING,
  toAddress,
} from "./access/access.ts";
import { type OwnNames, ownNames, requireOwnHost, requireOwnSite } from "./access/host-check.ts";
import { chooseTransport, type TransportOptions } from "./access/transport.ts";
import { JSON_TYPE, requireType } from "./body-type.ts";
import { toErrorBody } from "./failure.ts";
import { listenHttp } from "./server/listener.ts";

/** MCP over HTTP, made by another surface and served here. */
export interface McpFetch {
  fetch(request: Request): Promise<Response>;
}

interface McpRouteOptions {
  readonly mcp: McpFetch;
  readonly own: OwnNames;
  /** Token that the caller must have; null lets everyone in. */
  readonly token: string | null;
  readonly log: (thrown: unknown) => void;
}

interface RunningMcp extends AsyncDisposable {
  /** Address with the token as its fragment. */
  readonly address: string;
  /** What whoever starts it should know about the token. */
  readonly access: string;
  close(): Promise<void>;
}

const PROGRAMS = "programs send what follows #k= as Authorization: Bearer TOKEN";
const PATH = "/mcp";

/** Serves MCP alone at `/mcp`, with the checks of the whole surface: host, origin, token. */
export async function startMcpHttp(
  options: AccessOptions & TransportOptions & Omit<McpRouteOptions, "token" | "own"> & { readonly port: number },
): Promise<RunningMcp> {
  const { host, port, mcp, log } = options;
  const token = chooseToken(options);
  const transport = chooseTransport(options);
  const hono = makeMcpRoute({ mcp, log, own: ownNames({ host, ...transport }), token });
  const { url, close } = await listenHttp((request) => hono.fetch(request), host, port, transport.tls);
  const address = toAddress(new URL(PATH, transport.publicUrl ?? url).href, token);
  const said = [
    ...(transport.warning === null ? [] : [transport.warning]),
    token === null ? NO_TOKEN_WARNING : PROGRAMS,
  ];
  return { address, access: said.join("\n"), close, [Symbol.asyncDispose]: close };
}

/** MCP at its address, behind the checks of the surface. */
export function makeMcpRoute({ own, mcp, log, token }: McpRouteOptions): Hono {
  const hono = new Hono();
  hono.onError((thrown, call) => {
    const { status, body, headers } = toErrorBody(thrown);
    if (status >= 500) log(thrown);
    return call.json(body, status as 500, headers);
  });
  hono.notFound((call) => call.json(toErrorBody(new VerbatimError("ROUTE_UNKNOWN")).body, 404));
  hono.use(async (call, next) => {
    requireOwnHost(call.req.header("host"), call.req.header("origin"), own);
    requireOwnSite(call.req.header("sec-fetch-site"));
    if (token !== null && !isSameToken(bearerOf(call.req.header("authorization")), token)) {
      throw new VerbatimError("AUTH_REQUIRED");
    }
    await next();
  });
  hono.all(PATH, (call) => answerMcp(mcp, call.req.raw));
  return hono;
}

/** Hands a request on; what it posts is JSON. */
export async function answerMcp(mcp: McpFetch, request: Request): Promise<Response> {
  if (request.method === "POST") requireType(request.headers, JSON_TYPE, true);
  return mcp.fetch(request);
}
