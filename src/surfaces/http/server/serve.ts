import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { type App, openApp } from "../../../app/call.ts";
import { chooseLevel, LOG_LEVELS, Log, type LogLevel } from "../../../app/team/log.ts";
import { Counters, formatMetrics, type TeamFigures } from "../../../app/team/metrics.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { Sessions } from "../access/sessions.ts";
import type { TransportOptions } from "../access/transport.ts";
import { startHealth } from "./health.ts";
import { startHttp } from "./server.ts";
import { refuseInWords, untilAborted } from "./serving.ts";

/** The surroundings of one `verbatim serve`. */
interface ServeEnvironment {
  /** Words after `serve`. */
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  readonly version: string;
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  /** Ends the server. */
  readonly signal: AbortSignal;
  /** Folder with the pages of the Studio; without it there is the small page only. */
  readonly pages?: string;
}

const DEFAULT_PORT = 4681;
const DEFAULT_WAIT_S = 600;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 5_000;

const HELP = `verbatim serve [--port N] [--host H] [--tls-cert F --tls-key F] [--public-url U]
               [--health H:P] [--wait S] [--log-level L] [--no-web] [-C DIR]

Serves a team's workspace over HTTP: the API, the Studio and events. It posts jobs and waits
for them; it neither runs commands nor changes files. VERBATIM_DATABASE_URL names the database.

  --port N        port to listen on (default: ${DEFAULT_PORT}; 0 picks a free one)
  --host H        address to listen on (default: 127.0.0.1)
  --tls-cert F    certificate with its chain, in PEM; serves HTTPS
  --tls-key F     its private key, in PEM, that no other user can read
  --public-url U  address that people open, such as https://verbatim.example.org: of a proxy
                  with TLS in front of this server, or of the name in the certificate
  --health H:P    address for /healthz, /readyz and /metrics, which ask for no token
                  (default: none)
  --wait S        seconds to wait for the database at the start (default: ${DEFAULT_WAIT_S})
  --log-level L   how much is written to standard error, a JSON object a line: trace, debug,
                  info, warn, error or fatal (default: VERBATIM_LOG_LEVEL, else info)
  --no-web        serves the small built-in page instead of the Studio

People and programs send Authorization: Bearer TOKEN with a token of verbatim token add, or
type it in the Studio. What a token may do is its role; one that is revoked opens nothing
from then on. Off loopback it starts with TLS or behind a --public-url with TLS.

Examples:
  verbatim serve
  verbatim serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem --health 127.0.0.1:9464
  verbatim serve --public-url https://verbatim.example.org
`;

/** Serves until the signal; gives the exit code. */
export function runServe(world: ServeEnvironment): Promise<number> {
  return refuseInWords(world, () => serve(world));
}

async function serve(world: ServeEnvironment): Promise<number> {
  const options = readOptions(world.argv);
  if (options.help) {
    world.stdout.write(HELP);
    return 0;
  }
  if ((world.env["VERBATIM_DATABASE_URL"] ?? "") === "") {
    throw new VerbatimError("DATABASE_NOT_SET", { where: "VERBATIM_DATABASE_URL" });
  }
  const write = (line: string) => void world.stderr.write(`${line}\n`);
  const facts = { workspace: world.env["VERBATIM_WORKSPACE"] || undefined };
  const level = chooseLevel(options.logLevel, world.env);
  const log = new Log(write, { now: () => Date.now(), level, facts });
  const sessions = new Sessions();
  await using app = openApp({
    sessions: () => sessions.list(),
    surface: "http",
    start: options.folder ?? world.cwd,
    env: world.env,
    platform: world.platform,
    notify: (text) => log.say("info", text),
  });
  const counters = new Counters();
  await using health =
    options.health === null
      ? null
      : await startHealth(options.health, {
          isReady: async () => (await readFigures(app)) !== null,
          metrics: async (lag) => formatMetrics(await readFigures(app), counters, lag),
        });
  if (health !== null) log.say("info", `health at ${health.url}`);
  if (!(await waitForDatabase(app, world, log, options.waitMs))) return 0;
  await using http = await startHttp({
    app,
    sessions,
    version: world.version,
    studio: options.web ? world.pages : undefined,
    onlyQueues: true,
    observe({ operation, status, ms, request_id, actor }) {
      const who = actor === undefined ? undefined : `user/${actor}`;
      log.say(status >= 500 ? "error" : "info", `${operation} ${status}`, {
        request_id,
        actor: who,
        ms: Math.round(ms),
      });
      counters.add("verbatim_http_requests_total", { operation, status: String(status) });
      counters.add("verbatim_http_seconds_total", { operation }, ms / 1000);
    },
    noStart: true,
    ...options.listen,
    log: (thrown) => {
      const code = isVerbatimError(thrown) ? thrown.code : "INTERNAL";
      log.say("error", thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown), { code });
    },
  });
  world.stdout.write(`${options.listen.publicUrl ?? http.url}\n`);
  await untilAborted(world.signal);
  return 0;
}

/** Null when the store does not answer, or its schema is not the one this program works with. */
async function readFigures(app: App): Promise<TeamFigures | null> {
  return app.call("team.queues", {}).catch(() => null);
}

/** Waits for a database that does not answer yet; false when the server was told to stop meanwhile. */
async function waitForDatabase(app: App, { signal }: ServeEnvironment, log: Log, waitMs: number): Promise<boolean> {
  const end = performance.now() + waitMs;
  for (let pause = FIRST_WAIT_MS; !signal.aborted; pause = Math.min(2 * pause, LONGEST_WAIT_MS)) {
    try {
      await app.call("ledger.streams", {});
      return true;
    } catch (thrown) {
      const isAway = isVerbatimError(thrown) && thrown.code === "STORE_UNAVAILABLE";
      if (!isAway || performance.now() + pause > end) throw thrown;
      log.say("warn", `${thrown.code}: ${thrown.message}; trying again`, { code: thrown.code });
      await wait(pause, undefined, { signal }).catch(() => undefined);
    }
  }
  return false;
}

interface ServeOptions {
  readonly listen: TransportOptions & { readonly port: number };
  readonly folder: string | undefined;
  readonly health: string | null;
  readonly waitMs: number;
  readonly web: boolean;
  readonly logLevel: LogLevel | undefined;
  readonly help: boolean;
}

function readOptions(argv: readonly string[]): ServeOptions {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        port: { type: "string", default: String(DEFAULT_PORT) },
        host: { type: "string", default: "127.0.0.1" },
        "tls-cert": { type: "string" },
        "tls-key": { type: "string" },
        "public-url": { type: "string" },
        health: { type: "string" },
        wait: { type: "string", default: String(DEFAULT_WAIT_S) },
        "log-level": { type: "string" },
        "no-web": { type: "boolean", default: false },
        C: { type: "string", short: "C" },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    const { host, "tls-cert": tlsCert, "tls-key": tlsKey, "public-url": publicUrl } = values;
    return {
      listen: { port: toPort(values.port), host, tlsCert, tlsKey, publicUrl },
      folder: values.C,
      health: values.health ?? null,
      waitMs: toSeconds(values.wait) * 1000,
      web: !values["no-web"],
      logLevel: toLevel(values["log-level"]),
      help: values.help,
    };
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown;
    throw new VerbatimError("USAGE", { message: thrown.message, fix: "See verbatim serve --help", cause: thrown });
  }
}

function toLevel(text: string | undefined): LogLevel | undefined {
  const level = LOG_LEVELS.find((one) => one === text);
  if (text !== undefined && level === undefined) throw new TypeError(`${text} is not one of ${LOG_LEVELS.join(", ")}`);
  return level;
}

function toPort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new TypeError(`${text} is not a port`);
  return port;
}

function toSeconds(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new TypeError(`${text} is not a number of seconds`);
  return Number(text);
}
