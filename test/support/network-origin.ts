import { createServer as createPlain, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTls } from "node:https";
import { type AddressInfo, createServer, type Server } from "node:net";

// A key and a certificate that are good for nothing but these tests.
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg9JaVNYDBXr90/ubh
txJabdi+PQvKyD3KvTuckrtggrKhRANCAARxSW4L6OpRk8vF7Z4afTQVqutZscOS
sXzqb7sYAqm7gnrUOrYjshoQAn+8XuBe8mV6+FYkN3CO2DfvPjXKKf87
-----END PRIVATE KEY-----
`;
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBojCCAUigAwIBAgIUH+p2+iPuZgGfKUXQ+mkMThzv+5cwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJZ29vZC50ZXN0MCAXDTI2MTExODA1NTY1MloYDzIxMjYxMDI1
MDU1NjUyWjAUMRIwEAYDVQQDDAlnb29kLnRlc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARxSW4L6OpRk8vF7Z4afTQVqutZscOSsXzqb7sYAqm7gnrUOrYjshoQ
An+8XuBe8mV6+FYkN3CO2DfvPjXKKf87o3YwdDAdBgNVHQ4EFgQUKgaCZiW9rSnS
7a/weAy8z/w0m/4wHwYDVR0jBBgwFoAUKgaCZiW9rSnS7a/weAy8z/w0m/4wDwYD
VR0TAQH/BAUwAwEB/zAhBgNVHREEGjAYgglnb29kLnRlc3SCCyoud2lsZC50ZXN0
MAoGCCqGSM49BAMCA0gAMEUCIQC03fgifss1tYZMMNgn4oKcQntQEdg7K4wbqRwH
X0WLLgIgVagD/RTzn+DVfjim7r9C3sSBPE7gOc/5oZvWgOzJHnA=
-----END CERTIFICATE-----
`;

/** Two machines on loopback: one that a confined command may reach, and one that it must not. */
export interface Origins {
  /** Address of the host that is listed as good.test. */
  readonly good: string;
  readonly other: string;
  /** A unix socket without a path that somebody listens on. */
  readonly abstract: string;
  /** Connections that reached what nobody may reach. */
  readonly reached: string[];
  close(): Promise<void>;
}

/** What a name service outside would say: loopback only, so that a proxy that is broken reaches nobody else either. */
export function makeTable({ good, other }: Origins): Readonly<Record<string, readonly string[]>> {
  return {
    "good.test": [good],
    "a.wild.test": [good],
    "evil.test": [other],
    "loop.test": ["127.0.0.1"],
    "metadata.test": [good, other],
    "mapped.test": ["::ffff:127.0.0.1"],
  };
}

/** Why the origins cannot be opened here, or null: port 443 is the one whose TLS names are compared. */
export async function findObstacle(): Promise<string | null> {
  if (process.platform !== "linux") return "network namespaces are Linux only";
  const server = createServer();
  const error = await listen(server, 443, "127.77.0.1").then(
    () => null,
    (thrown: NodeJS.ErrnoException) => thrown.code ?? "failed",
  );
  if (error === null) await close(server);
  return error === null ? null : `port 443 of loopback cannot be listened on: ${error}`;
}

export async function openOrigins(): Promise<Origins> {
  // Of their own for every process of the tests, so that they do not meet.
  const [high, low] = [(process.pid >> 8) & 255, process.pid & 255];
  const [good, other] = [`127.77.${high}.${low}`, `127.78.${high}.${low}`];
  const reached: string[] = [];
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    if (request.url === "/redirect") {
      response.writeHead(302, { location: "http://evil.test/" }).end();
      return;
    }
    const hosts = request.rawHeaders.filter(
      (_, i) => i % 2 === 1 && request.rawHeaders[i - 1]!.toLowerCase() === "host",
    );
    response.end(JSON.stringify({ url: request.url, host: request.headers.host, hosts }));
  };
  const tls = { key: KEY, cert: CERTIFICATE };
  const servers: [Server, number, string][] = [
    [createTls(tls, answer), 443, good],
    [createPlain(answer), 80, good],
    [createServer((socket) => socket.on("error", () => undefined).destroy()), 443, other],
    [createServer((socket) => socket.on("error", () => undefined).destroy()), 80, other],
  ];
  for (const [server, port, host] of servers.slice(2)) server.on("connection", () => reached.push(`${host}:${port}`));
  for (const [server, port, host] of servers) {
    await listen(server, port, host);
    server.on("tlsClientError", () => undefined);
  }
  const abstract = `verbatim-network-${process.pid}`;
  const unix = createServer((socket) => {
    reached.push("abstract");
    socket.destroy();
  });
  await new Promise<void>((done, fail) => {
    unix.once("error", fail);
    unix.listen(`\0${abstract}`, done);
  });
  return {
    good,
    other,
    abstract,
    reached,
    async close() {
      for (const server of [...servers.map(([one]) => one), unix]) await close(server);
    },
  };
}

function listen(server: Server, port: number, host: string): Promise<AddressInfo> {
  return new Promise((done, fail) => {
    server.once("error", fail);
    server.listen(port, host, () => done(server.address() as AddressInfo));
  });
}

function close(server: Server): Promise<void> {
  if ("closeAllConnections" in server) (server as unknown as { closeAllConnections(): void }).closeAllConnections();
  return new Promise((done) => server.close(() => done()));
}
