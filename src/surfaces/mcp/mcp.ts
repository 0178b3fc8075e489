import { parseArgs } from "node:util";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { App } from "../../app/call.ts";
import { openApp } from "../../app/call.ts";
import { isVerbatimError, VerbatimError } from "../../core/errors/index.ts";
import { showPath } from "../../core/paths/index.ts";
import { DEFAULT_MAX_BYTES, LEAST_MAX_BYTES, MOST_MAX_BYTES } from "./answer.ts";
import { createMcpHttp, type McpHttp } from "./http-handler.ts";
import { createMcpSurface, type McpOptions } from "./server.ts";
import { StdioTransport } from "./stdio-transport.ts";

/** Serves MCP over HTTP behind the checks of the HTTP surface. */
export type ServeHttp = (
  options: Listen & { readonly mcp: McpHttp; readonly log: (thrown: unknown) => void },
) => Promise<AsyncDisposable & { readonly address: string; readonly access: string }>;

/** Where to listen, and what was said about the token. */
interface Listen {
  readonly host: string;
  readonly port: number;
  readonly token: string | undefined;
  readonly tokenFile: string | undefined;
  readonly noToken: boolean;
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
  readonly publicUrl: string | undefined;
  readonly insecureHttp: boolean;
}

/** The surroundings of one `verbatim mcp`. */
interface McpEnvironment {
  /** Words after `mcp`. */
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  readonly version: string;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: { write(text: string): unknown };
  /** Ends the server. */
  readonly signal: AbortSignal;
  /** Surfaces do not know each other; whoever starts this one knows the other. */
  readonly serveHttp: ServeHttp;
}

const DEFAULT_PORT = 4681;
// As much as at every other address of the HTTP surface.
const MAX_BODY = 256 * 1024;

const HELP = `verbatim mcp [--max-bytes N] [-C DIR]
       [--http [--port N] [--host H] [--token T | --token-file F | --no-token]
               [--tls-cert F --tls-key F] [--public-url U] [--insecure-http]]

Serves the Model Context Protocol: eight tools and the resources of this
workspace, on standard input and output, or over HTTP.

  --max-bytes N   largest response in bytes (${DEFAULT_MAX_BYTES}); more is refused, never cut
  --http          listen on 127.0.0.1 instead of standard input
  --port N        port to listen on (default: ${DEFAULT_PORT}; 0 picks a free one)
  --host H        address to listen on (default: 127.0.0.1)
  --token T       the owner's token (default: a new one each time)
  --token-file F  file whose first line is the token (- reads standard input)
  --no-token      requires no token: any program on this machine can act as
                  you; loopback only
  --tls-cert F    certificate with its chain, in PEM; serves HTTPS
  --tls-key F     its private key, in PEM, that no other user can read
  --public-url U  address of a proxy with TLS, or of the name in the certificate
  --insecure-http allows plain HTTP off loopback, where others can read along

The printed address ends with #k=TOKEN; clients send the token as
Authorization: Bearer TOKEN.

Examples:
  verbatim mcp
  verbatim mcp -C ~/work/harbour --max-bytes 80000
  verbatim mcp --http --port 4681
  claude mcp add verbatim -- verbatim mcp

Clients with a settings file (Claude Code: .mcp.json, Cursor: .cursor/mcp.json):
  {"mcpServers":{"verbatim":{"command":"verbatim","args":["mcp","-C","."]}}}
Where verbatim is not installed (npm install --global verbatim-agent):
  {"mcpServers":{"verbatim":{"command":"npx","args":["-y","verbatim-agent","mcp"]}}}
`;

/** Serves until the client leaves or the signal; gives the exit code. */
export async function runMcp(world: McpEnvironment): Promise<number> {
  try {
    const options = readOptions(world.argv);
    if (options.help) {
      world.stdout.write(HELP);
      return 0;
    }
    await using app = openMcpApp(world, options.folder ?? world.cwd);
    const served = {
      app,
      version: world.version,
      maxBytes: options.maxBytes,
      log: (thrown: unknown) => note(world, thrown),
    };
    return options.http === null ? await serveStreams(world, served) : await serveHttp(world, served, options.http);
  } catch (thrown) {
    const error = isVerbatimError(thrown) ? thrown : new VerbatimError("INTERNAL", { cause: thrown });
    const where = error.where === undefined ? "" : `  where: ${showPath(error.where)}\n`;
    world.stderr.write(`error[${error.code}] ${error.message}\n${where}  fix: ${error.fix}\n`);
    return error.exit;
  }
}

/** The workspace around a folder as this surface sees it. */
function openMcpApp(
  { env, platform, stderr }: Pick<McpEnvironment, "env" | "platform" | "stderr">,
  start: string,
): App {
  return openApp({ surface: "mcp", start, env, platform, notify: (text) => void stderr.write(`${text}\n`) });
}

/** MCP over HTTP for the workspace around a folder, with a workspace of its own so that entries say who asked. */
export function openMcpHttp(
  world: Pick<McpEnvironment, "env" | "platform" | "stderr" | "version">,
  folder: string,
  caged = false,
): McpHttp & AsyncDisposable {
  const app = openMcpApp(world, folder);
  const log = (thrown: unknown) => note(world, thrown);
  const { fetch, close } = createMcpHttp({
    app,
    version: world.version,
    maxBytes: DEFAULT_MAX_BYTES,
    maxBodyBytes: MAX_BODY,
    caged,
    log,
  });
  const end = async () => {
    await close();
    await app.close();
  };
  return { fetch, close: end, [Symbol.asyncDispose]: end };
}

function note({ stderr }: Pick<McpEnvironment, "stderr">, thrown: unknown): void {
  stderr.write(`${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}\n`);
}

/** Standard output belongs to the protocol; everything else goes to standard error. */
async function serveStreams(world: McpEnvironment, options: McpOptions): Promise<number> {
  const surface = createMcpSurface(options);
  const ended = new Promise<void>((resolve) => {
    world.stdin.once("end", resolve);
    world.stdin.once("close", resolve);
    world.stdout.once("error", () => resolve());
    if (world.signal.aborted) resolve();
    world.signal.addEventListener("abort", () => resolve(), { once: true });
  });
  const transport = new StdioTransport(world.stdin, world.stdout);
  const serving = serveStdio(surface.factory, {
    transport,
    onerror: (error) => void world.stderr.write(`${error.message}\n`),
  });
  await ended;
  await serving.close();
  await surface.idle();
  world.stdin.pause();
  return 0;
}

async function serveHttp(world: McpEnvironment, options: McpOptions, listen: Listen): Promise<number> {
  const mcp = createMcpHttp({ ...options, maxBodyBytes: MAX_BODY });
  await using http = await world.serveHttp({ mcp, ...listen, log: (thrown) => note(world, thrown) });
  world.stderr.write(`${http.access}\n`);
  world.stdout.write(`${http.address}\n`);
  await new Promise<void>((resolve) => {
    if (world.signal.aborted) resolve();
    world.signal.addEventListener("abort", () => resolve(), { once: true });
  });
  await mcp.close();
  return 0;
}

function readOptions(argv: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        "max-bytes": { type: "string", default: String(DEFAULT_MAX_BYTES) },
        http: { type: "boolean", default: false },
        port: { type: "string" },
        host: { type: "string" },
        token: { type: "string" },
        "token-file": { type: "string" },
        "no-token": { type: "boolean", default: false },
        "tls-cert": { type: "string" },
        "tls-key": { type: "string" },
        "public-url": { type: "string" },
        "insecure-http": { type: "boolean", default: false },
        C: { type: "string", short: "C" },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    const { port, host, token, "token-file": tokenFile, "no-token": noToken } = values;
    const { "tls-cert": tlsCert, "tls-key": tlsKey, "public-url": publicUrl, "insecure-http": insecureHttp } = values;
    const given = [port, host, token, tokenFile, tlsCert, tlsKey, publicUrl].some((value) => value !== undefined);
    if (!values.http && (noToken || insecureHttp || given))
      throw new TypeError("flags about the address, the token and TLS need --http");
    const listen = {
      host: host ?? "127.0.0.1",
      port: readNumber("port", port ?? String(DEFAULT_PORT), 0, 65_535),
      token,
      tokenFile,
      noToken,
      tlsCert,
      tlsKey,
      publicUrl,
      insecureHttp,
    };
    return {
      maxBytes: readNumber("max-bytes", values["max-bytes"], LEAST_MAX_BYTES, MOST_MAX_BYTES),
      http: values.http ? listen : null,
      folder: values.C,
      help: values.help,
    };
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown;
    throw new VerbatimError("USAGE", { message: thrown.message, fix: "See verbatim mcp --help", cause: thrown });
  }
}

function readNumber(flag: string, text: string, least: number, most: number): number {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new TypeError(`--${flag} must be a number from ${least} to ${most}, not ${text}`);
}
