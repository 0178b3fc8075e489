import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { bearerOf, isSameToken, makeToken } from "../access/access.ts";
import type { McpFetch } from "../mcp-route.ts";

type Answer = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void> | void;

/**
 * Listens on loopback for whoever has a token that is made here. What answers is loaded by the first such request:
 * listening alone costs a few milliseconds.
 */
export async function startLater(
  open: () => Promise<McpFetch & AsyncDisposable>,
): Promise<{ readonly url: string; readonly token: string; close(): Promise<void> }> {
  const token = makeToken();
  let opened: Promise<McpFetch & AsyncDisposable> | undefined;
  let answer: Promise<Answer> | undefined;
  const load = async (): Promise<Answer> => {
    opened = open();
    const { makeMcpRoute } = await import("../mcp-route.ts");
    const { ownNames } = await import("../access/host-check.ts");
    const { getRequestListener } = await import("@hono/node-server");
    const hono = makeMcpRoute({ mcp: await opened, own: ownNames({ host: "127.0.0.1" }), token, log: () => undefined });
    return getRequestListener(hono.fetch);
  };
  const server = createServer((incoming, outgoing) => {
    // Who does not have the token must not make us load anything either.
    if (!isSameToken(bearerOf(incoming.headers.authorization), token)) {
      outgoing.writeHead(401, { "WWW-Authenticate": "Bearer" }).end();
      return;
    }
    answer ??= load();
    answer.then(
      (run) => void run(incoming, outgoing),
      () => outgoing.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    token,
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      // Whoever asked was told that it could not be opened; there is nothing to close then.
      await (await opened?.catch(() => undefined))?.[Symbol.asyncDispose]();
    },
  };
}
