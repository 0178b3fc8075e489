import { parseArgs } from "node:util";
import { openApp } from "../../../app/call.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { type AccessOptions, NO_TOKEN_WARNING } from "../access/access.ts";
import { Sessions } from "../access/sessions.ts";
import type { TransportOptions } from "../access/transport.ts";
import type { McpFetch } from "../mcp-route.ts";
import { startHttp } from "./server.ts";
import { logTo, refuseInWords, untilAborted } from "./serving.ts";

/** The surroundings of one `verbatim studio`. */
interface StudioEnvironment {
  /** Words after `studio`. */
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  readonly version: string;
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  /** Lines typed at the terminal; absent where there is none. */
  readonly typed?: AsyncIterable<unknown>;
  /** Ends the server. */
  readonly signal: AbortSignal;
  /** Folder with the pages of the Studio; without it there is the small page only. */
  readonly pages?: string;
  /** MCP over the workspace of a folder; another surface makes it. */
  readonly openMcp?: (folder: string) => AsyncDisposable & McpFetch;
}

const DEFAULT_PORT = 4680;

const HELP = `verbatim studio [--port N] [--host H] [--token T | --token-file F | --no-token]
                [--tls-cert F --tls-key F] [--public-url U] [--insecure-http]
                [--no-start] [--at PATH] [--no-web] [-C DIR]

Serves the Studio for this workspace: a page to read and decide, the HTTP API, events and MCP (at /mcp).

  --port N        port to listen on (default: ${DEFAULT_PORT}; 0 picks a free one)
  --host H        address to listen on (default: 127.0.0.1)
  --token T       the owner's token (default: a new one each time)
  --token-file F  file whose first line is the token (- reads standard input)
  --no-token      requires no token: any program on this machine can act as you; loopback only
  --tls-cert F    certificate with its chain, in PEM; serves HTTPS
  --tls-key F     its private key, in PEM, that no other user can read
  --public-url U  address that people open, such as https://studio.example.org: of a proxy
                  with TLS in front of this server, or of the name in the certificate
  --insecure-http allows plain HTTP off loopback: everyone on the network between can
                  read the token and whatever is shown
  --no-start      starts no agents for anybody who asks over HTTP
  --at PATH       the page that the link opens, such as /runs/@ (default: /)
  --no-web        serves the small built-in page instead of the Studio

The printed link opens one session in one browser, once, within ten minutes. Press
Enter to print another one. Programs send Authorization: Bearer TOKEN with the token
of --token or --token-file. Off loopback it starts with TLS, behind a --public-url
with TLS, or with --insecure-http, and not otherwise.

Examples:
  verbatim studio
  verbatim studio --at /runs/@
  verbatim studio --no-web
  verbatim studio --host 0.0.0.0 --token-file ~/.verbatim-token --tls-cert cert.pem --tls-key key.pem
  verbatim studio --public-url https://studio.example.org
`;

/** Serves until the signal; gives the exit code. */
export function runStudio(world: StudioEnvironment): Promise<number> {
  return refuseInWords(world, () => serve(world));
}

async function serve(world: StudioEnvironment): Promise<number> {
  const options = readOptions(world.argv);
  if (options.help) {
    world.stdout.write(HELP);
    return 0;
  }
  const sessions = new Sessions();
  await using app = openApp({
    sessions: () => sessions.list(),
    surface: "http",
    start: options.folder ?? world.cwd,
    env: world.env,
    platform: world.platform,
    notify: (text) => void world.stderr.write(`${text}\n`),
  });
  await using mcp = world.openMcp?.(options.folder ?? world.cwd);
  await using http = await startHttp({
    app,
    mcp,
    sessions,
    version: world.version,
    studio: options.web ? world.pages : undefined,
    ...options.listen,
    log: logTo(world),
  });
  if (http.token === null) world.stderr.write(`${NO_TOKEN_WARNING}\n`);
  if (http.warning !== null) world.stderr.write(`${http.warning}\n`);
  // Links have the public address; whoever sets up a proxy needs the other one.
  if (options.listen.publicUrl !== undefined) world.stderr.write(`listening on ${http.url}\n`);
  const printLink = () => void world.stdout.write(`${http.makeLink(options.at)}\n`);
  printLink();
  if (world.typed !== undefined && http.token !== null) {
    world.stderr.write("this link opens one session, within ten minutes; press Enter for another one\n");
    void printAtEnter(world.typed, printLink);
  }
  await untilAborted(world.signal);
  return 0;
}

/** A new link for every line somebody types. A terminal that goes away ends nothing but this. */
async function printAtEnter(typed: AsyncIterable<unknown>, printLink: () => void): Promise<void> {
  for await (const line of typed) if (line !== undefined) printLink();
}

interface StudioOptions {
  readonly listen: AccessOptions & TransportOptions & { readonly port: number };
  readonly folder: string | undefined;
  /** The page that links open. */
  readonly at: string;
  /** False: the small page. */
  readonly web: boolean;
  readonly help: boolean;
}

function readOptions(argv: readonly string[]): StudioOptions {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        port: { type: "string", default: String(DEFAULT_PORT) },
        host: { type: "string", default: "127.0.0.1" },
        token: { type: "string" },
        "token-file": { type: "string" },
        "no-token": { type: "boolean", default: false },
        "tls-cert": { type: "string" },
        "tls-key": { type: "string" },
        "public-url": { type: "string" },
        "insecure-http": { type: "boolean", default: false },
        "no-start": { type: "boolean", default: false },
        at: { type: "string", default: "/" },
        "no-web": { type: "boolean", default: false },
        C: { type: "string", short: "C" },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    const port = Number(values.port);
    if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new TypeError(`${values.port} is not a port`);
    // One slash: with two it would be the address of another server.
    if (!/^\/(?![/\\])[^\s#]*$/.test(values.at)) throw new TypeError(`${values.at} is not a path of the Studio`);
    const { host, token, at, "token-file": tokenFile, "no-token": noToken, "no-start": noStart } = values;
    const { "tls-cert": tlsCert, "tls-key": tlsKey, "public-url": publicUrl, "insecure-http": insecureHttp } = values;
    return {
      listen: { port, host, token, tokenFile, noToken, noStart, tlsCert, tlsKey, publicUrl, insecureHttp },
      folder: values.C,
      at,
      web: !values["no-web"],
      help: values.help,
    };
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown;
    throw new VerbatimError("USAGE", { message: thrown.message, fix: "See verbatim studio --help", cause: thrown });
  }
}
