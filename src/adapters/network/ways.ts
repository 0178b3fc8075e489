import { writeFileSync } from "node:fs";
import type { LaunchRequest } from "../../rooms/catalytic/ports.ts";
import { startFailed } from "../guards/control.ts";
import type { ResolveName } from "./judge.ts";
import { NetworkProxy } from "./proxy.ts";

/** Where the relay listens inside; relay.pl has the same numbers. */
const PROXY = "127.0.0.1:3128";
const SERVER = "127.0.0.1:3129";
/** What the relay itself uses, and what a command could bind by itself: these go through the proxy only. */
const FIRST_FREE_PORT = 1024;

/** The ways out of a command with a network of its own, open until they are closed. */
export interface Ways {
  /** Variables that tell the command about them. */
  readonly env: Readonly<Record<string, string>>;
  /** What the relay is told, as pairs of `reach`. */
  readonly reach: readonly string[];
  /** The relay ended before the command did. */
  lost(): void;
  close(): Promise<void>;
}

/** Opens what a command may reach besides itself; null where it may reach everything or nothing. */
export async function openWays(request: LaunchRequest, resolve: ResolveName): Promise<Ways | null> {
  const { reach, network, work } = request;
  if (network === "allow" && reach === undefined) throw startFailed("nobody says which hosts may be reached");
  if (reach === undefined || network === "inherit") return null;
  const server = reach.server ?? null;
  if (network === "none" && server === null) return null;
  const hosts = network === "allow" ? reach.hosts : [];
  const proxy = await NetworkProxy.open({
    folder: work,
    hosts: () => (network === "allow" ? (reach.now?.() ?? hosts) : []),
    server: server?.port ?? null,
    resolve,
    onConnection: (connection) => reach.onConnection(connection),
  });
  void reach.narrowed?.then(() => proxy.cut());
  // The name service is the relay; nobody else is asked.
  writeFileSync(`${work}/resolv.conf`, "nameserver 127.0.0.1\noptions timeout:2 attempts:1\n");
  writeFileSync(
    `${work}/nsswitch.conf`,
    "passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n",
  );
  const ports = [...new Set(hosts.map(({ port }) => port))].filter((port) => port < FIRST_FREE_PORT);
  return {
    env: {
      ...(network === "allow" ? proxyVariables() : {}),
      ...(server === null ? {} : { [server.variable]: `http://${SERVER}${server.path}` }),
    },
    reach: [
      ...(network === "allow" ? ["proxy:1", "names:1"] : []),
      ...(server === null ? [] : ["server:1"]),
      ...ports.map((port) => `port:${port}`),
      ...hosts.map(({ host }) => (host.startsWith("*.") ? `wild:${host.slice(1)}` : `name:${host}`)),
    ],
    lost: () => reach.onLost(),
    close: () => proxy.close(),
  };
}

/** For programs that ask for a proxy: it saves them a name. Nothing depends on whether they heed it. */
function proxyVariables(): Record<string, string> {
  const http = `http://${PROXY}`;
  const variables: Record<string, string> = { NODE_USE_ENV_PROXY: "1", CARGO_HTTP_PROXY: http, PIP_PROXY: http };
  for (const name of ["npm_config_proxy", "npm_config_https_proxy", "YARN_HTTP_PROXY", "YARN_HTTPS_PROXY"]) {
    variables[name] = http;
  }
  for (const [name, value] of [
    ["HTTP_PROXY", http],
    ["HTTPS_PROXY", http],
    ["ALL_PROXY", `socks5h://${PROXY}`],
    ["NO_PROXY", "localhost,127.0.0.1,::1"],
  ] as const) {
    variables[name] = value;
    variables[name.toLowerCase()] = value;
  }
  return variables;
}
