import { request as ask, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Verdict } from "../../core/network/connections.ts";
import { type ProxyTarget, readAbsoluteTarget } from "../../core/network/proxy-requests.ts";
import { describeRefusal, type Pending, toShown } from "./refusal.ts";

/** What the proxy does for a request. */
interface Outlet {
  begin(via: "http", host: string, port: number | null): Pending;
  reach(
    target: ProxyTarget,
    refuse: (verdict: Exclude<Verdict, "allowed">) => void,
  ): Promise<{ readonly socket: Socket; readonly address: string; readonly name: string } | null>;
}

/** Headers that are between two neighbours, and the one that is made from the request line. */
const OF_THE_HOP = new Set([
  "connection",
  "host",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

const TLS_PORT = 443;

/** One request in absolute form. The next one on the same connection is judged for itself. */
export async function forwardRequest(proxy: Outlet, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const target = readAbsoluteTarget(request.url ?? "");
  const shown = target === null ? (request.url ?? "") : toShown(target.host);
  const pending = proxy.begin("http", shown, target?.port ?? null);
  const refuse = (verdict: Exclude<Verdict, "allowed">) => {
    pending.finish(verdict);
    // Whatever else was sent on this connection is not read.
    response.socket?.end(describeRefusal(verdict, target ?? { host: shown, port: 0 }));
  };
  if (target === null) return refuse("bad_request");
  const made = await proxy.reach(target, refuse);
  if (made === null) return;
  const { socket: origin, address, name } = made;
  if (target.port === TLS_PORT) {
    origin.destroy();
    return refuse("no_tls_name");
  }
  pending.finish("allowed", { address, origin });
  const host = target.port === 80 ? name : `${name}:${target.port}`;
  const headers = ["Host", host, ...endToEnd(request, "content-length"), ...toFraming(request), "Connection", "close"];
  const upstream = ask({
    createConnection: () => origin,
    method: request.method ?? "GET",
    path: target.path,
    setHost: false,
    // Pairs in a list keep their order and their repetitions; the types of this version of Node know objects only.
    headers: headers as never,
  });
  const fail = () => {
    origin.destroy();
    response.destroy();
  };
  upstream.on("error", fail);
  response.on("close", () => origin.destroy());
  upstream.on("response", (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage ?? "", endToEnd(answer));
    answer.on("error", fail);
    answer.pipe(response);
  });
  request.on("error", fail);
  request.pipe(upstream);
}

/**
 * How the body of a request is announced. Without it the body of a GET would go out with nothing before it, and be read as a
 * request that nobody judged.
 */
function toFraming({ headers }: IncomingMessage): string[] {
  if (headers["transfer-encoding"] !== undefined) return ["Transfer-Encoding", "chunked"];
  return headers["content-length"] === undefined ? [] : ["Content-Length", headers["content-length"]];
}

/** The headers that are meant for the other end, as they were written, but for one that is made anew. */
function endToEnd({ rawHeaders, headers }: IncomingMessage, without?: string): string[] {
  const named = String(headers.connection ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim());
  const kept: string[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    if (!OF_THE_HOP.has(name) && !named.includes(name) && name !== without)
      kept.push(rawHeaders[i]!, rawHeaders[i + 1]!);
  }
  return kept;
}
