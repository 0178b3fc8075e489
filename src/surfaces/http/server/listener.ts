import { createServer, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { getRequestListener } from "@hono/node-server";
import { VerbatimError } from "../../../core/errors/index.ts";
import { reachableHost } from "../access/host-check.ts";
import type { Transport } from "../access/transport.ts";

const MAX_HEADER_BYTES = 16 * 1024;

interface Listening {
  readonly url: string;
  close(): Promise<void>;
}

/** Listens on an address, with TLS where there is a certificate, and answers with a function from request to response; port 0 takes a free one. */
export async function listenHttp(
  fetch: (request: Request) => Response | Promise<Response>,
  host: string,
  port: number,
  tls: Transport["tls"] = null,
): Promise<Listening> {
  const answer = getRequestListener(fetch);
  const onRequest: RequestListener = (incoming, outgoing) => void answer(incoming, outgoing);
  const limits = { maxHeaderSize: MAX_HEADER_BYTES };
  const server =
    tls === null
      ? createServer(limits, onRequest)
      : createSecureServer({ ...limits, ...tls, minVersion: "TLSv1.2" }, onRequest);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) =>
      reject(new VerbatimError("USAGE", { message: `cannot listen on ${host}:${port}: ${cause.code}`, cause })),
    );
    server.listen(port, host, resolve);
  });
  const address = server.address();
  const taken = typeof address === "object" && address !== null ? address.port : port;
  const name = reachableHost(host);
  return {
    url: `${tls === null ? "http" : "https"}://${name.includes(":") ? `[${name}]` : name}:${taken}`,
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
