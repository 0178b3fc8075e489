import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { VerbatimError } from "../../core/errors/index.ts";

const MAX_HEADER_BYTES = 16 * 1024;

interface Listening {
  readonly url: string;
  close(): Promise<void>;
}

/** Listens on an address and answers with a function from request to response; port 0 takes a free one. */
export async function listenHttp(
  fetch: (request: Request) => Response | Promise<Response>,
  host: string,
  port: number,
): Promise<Listening> {
  const answer = getRequestListener(fetch);
  const server = createServer(
    { maxHeaderSize: MAX_HEADER_BYTES },
    (incoming, outgoing) => void answer(incoming, outgoing),
  );
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) =>
      reject(new VerbatimError("USAGE", { message: `cannot listen on ${host}:${port}: ${cause.code}`, cause })),
    );
    server.listen(port, host, resolve);
  });
  const address = server.address();
  const taken = typeof address === "object" && address !== null ? address.port : port;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${taken}`,
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
