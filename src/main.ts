import { closeSync, openSync, readFileSync, rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { isatty } from "node:tty";
import { fileURLToPath } from "node:url";
import type { Output } from "./app/operations.ts";
import type { ProgressStep } from "./core/ports.ts";
import type { ServeHttp } from "./surfaces/mcp/mcp.ts";

/** Starts a surface: the command line, a hook, MCP or the studio. The only place that knows the process and all surfaces. */
export async function main(argv: readonly string[]): Promise<void> {
  const [surface, ...rest] = withFolderLast(argv);
  if (isHook(argv)) await openHook(argv);
  else if (surface === "mcp") await startMcp(rest);
  else if (surface === "studio") await startStudio(rest);
  else if (surface === "serve") await startServe(rest);
  else if (surface === "--supervise") await startSupervised();
  else if (surface === "demo" && rest.includes("--studio")) await startDemo(argv);
  else await startCli(argv);
}

/** `-C DIR` may come before the verb. */
function withFolderLast(argv: readonly string[]): readonly string[] {
  return argv[0] === "-C" && argv.length > 2 ? [...argv.slice(2), "-C", argv[1]!] : argv;
}

/** The HTTP surface; an interrupt closes it. */
async function startStudio(argv: readonly string[], env = process.env): Promise<void> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop.abort());
  const { runStudio } = await import("./surfaces/http/server/studio.ts");
  const { stdin, stdout, stderr, platform } = process;
  // Only a terminal has somebody who presses Enter.
  const typed = stdin.isTTY && stdout.isTTY ? { typed: createInterface({ input: stdin }) } : {};
  const world = { argv, cwd: process.cwd(), env, platform, version: readVersion(), stdout, stderr, ...typed };
  const { openMcpHttp } = await import("./surfaces/mcp/mcp.ts");
  const openMcp = (folder: string) => openMcpHttp(world, folder);
  const pages = fileURLToPath(new URL("../dist/studio", import.meta.url));
  process.exitCode = await runStudio({ ...world, pages, signal: stop.signal, openMcp });
  typed.typed?.close();
}

/** The server of a team; an interrupt closes it. */
async function startServe(argv: readonly string[]): Promise<void> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop.abort());
  const { runServe } = await import("./surfaces/http/server/serve.ts");
  const { stdout, stderr, platform, env } = process;
  const world = { argv, cwd: process.cwd(), env, platform, version: readVersion(), stdout, stderr };
  const pages = fileURLToPath(new URL("../dist/studio", import.meta.url));
  process.exitCode = await runServe({ ...world, pages, signal: stop.signal });
}

/** The story, then the Studio over its sample until somebody interrupts it. Without a terminal the story says how. */
async function startDemo(argv: readonly string[]): Promise<void> {
  const { stdin, stdout } = process;
  let story: Output<"hall.demo"> | null = null;
  await startCli(argv, stdout, endQuietly, (output) => {
    story = output as Output<"hall.demo">;
  });
  const told = story as Output<"hall.demo"> | null;
  if (told?.kept == null || !stdin.isTTY || !stdout.isTTY || argv.includes("--json")) return;
  const { repository, home, run_id } = told.kept;
  stdout.write("\nthe run of this story, in a browser (Ctrl-C ends it and removes the sample):\n");
  // The sample has a home of its own; nothing about it is written into that of the user.
  const env = { ...process.env, XDG_CONFIG_HOME: home, XDG_STATE_HOME: home };
  await startStudio(["--port", "0", "--at", `/runs/${run_id}`, "-C", repository], env);
  if (told.folder !== null && !argv.includes("--keep")) rmSync(told.folder, { recursive: true, force: true });
}

/** The MCP surface; an interrupt closes it, and so does a client that leaves. */
async function startMcp(argv: readonly string[]): Promise<void> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop.abort());
  const { runMcp } = await import("./surfaces/mcp/mcp.ts");
  const { stdin, stdout, stderr, env, platform } = process;
  const world = { argv, cwd: process.cwd(), env, platform, version: readVersion(), stdin, stdout, stderr };
  const serveHttp: ServeHttp = async (options) => {
    const { startMcpHttp } = await import("./surfaces/http/mcp-route.ts");
    return startMcpHttp(options);
  };
  process.exitCode = await runMcp({ ...world, signal: stop.signal, serveHttp });
}

const HOOKS = ["pre-tool", "post-tool", "stop"];

/** Whether a hook is called; flags of the whole program may come before it. */
function isHook(argv: readonly string[]): boolean {
  let at = 0;
  while (argv[at]?.startsWith("-") === true) at += argv[at] === "-C" ? 2 : 1;
  return argv[at] === "hook" && HOOKS.includes(argv[at + 1] ?? "");
}

/** A hook with nothing but its client goes the short way; anything else is for the command line to explain. */
async function openHook(argv: readonly string[]): Promise<void> {
  const { failHook, leadsNowhere, NOWHERE, startHook } = await import("./hook.ts");
  const isPlain = argv[0] === "hook" && (argv.length === 2 || (argv.length === 4 && argv[2] === "--client"));
  if (isPlain) return startHook(argv);
  process.on("uncaughtException", failHook);
  // A verdict that nobody reads is none, and without one an agent goes on.
  const lost = new Writable({ write: (_bytes, _encoding, done) => done(new Error(NOWHERE)) });
  // Of a terminal's stream only writing is ever asked of this one.
  const stdout = leadsNowhere(1, process.platform) ? (lost as unknown as NodeJS.WriteStream) : process.stdout;
  await startCli(argv, stdout, failHook).catch(failHook);
}

/** A closed pipe (`| head`) is not an error of ours; a closed terminal is told by its signal, and work goes on to its end. */
function endQuietly(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") process.exit(0);
  if (error.code !== "EIO") throw error;
}

async function startCli(
  argv: readonly string[],
  stdout: NodeJS.WriteStream = process.stdout,
  onError: (error: NodeJS.ErrnoException) => void = endQuietly,
  onAnswer?: (output: unknown) => void,
): Promise<void> {
  // A manifest of many artifacts would make V8 triple its space for new objects, a third of all memory of verifying;
  // what is checked lives either very briefly or to the end, so the larger space buys no time.
  if (argv[0] === "bundle" && argv[1] === "verify") {
    process.getBuiltinModule("node:v8").setFlagsFromString("--semi-space-growth-factor=1");
  }
  stdout.on("error", onError);
  watchTerminal();
  for (const stream of [process.stderr, process.stdin]) stream.on("error", onError);
  endAtSignals();
  const sign = showFirstSign(argv, () => process.stderr);
  // Loaded here, because hooks must not wait for it.
  const { runCli } = await import("./surfaces/cli/run.ts");
  process.exitCode = await runCli({
    argv,
    cwd: process.cwd(),
    env: process.env,
    platform: process.platform,
    version: readVersion(),
    streams: { stdin: process.stdin, stdout, stderr: process.stderr },
    serveMcp: serveAgent,
    serveHealth: async (...asked) => (await import("./surfaces/http/server/health.ts")).startHealth(...asked),
    ...(onAnswer === undefined ? {} : { onAnswer }),
    sign,
  });
}

/** What a run of an agent does first, and so do the verbs that work on the tree again. */
const FIRST_STEP: ProgressStep = { label: "looking at the tree", done: 0 };
/** The same as the progress line draws it. */
const FIRST_LINE = `\r\u001b[K${FIRST_STEP.label} ...`;

const SILENT = ["--quiet", "--no-progress", "--help", "-h"];
const SLOW_VERBS: readonly (string | undefined)[] = ["verify", "apply"];

/**
 * Says on a terminal that something is going on, before the program that does it is loaded: loading takes longer than somebody
 * waits without a sign. Returns the step it shows, whose line is then to be
 * taken over, or null.
 */
export function showFirstSign(argv: readonly string[], stderr: () => NodeJS.WriteStream): ProgressStep | null {
  const end = argv.indexOf("--");
  const own = end === -1 ? argv : argv.slice(0, end);
  const words = own.filter((word, i) => !word.startsWith("-") && own[i - 1] !== "-C");
  const isSlow = words[0] === "agent" && (end !== -1 || SLOW_VERBS.includes(words[1]));
  if (!isSlow || SILENT.some((flag) => own.includes(flag)) || stderr().isTTY !== true) return null;
  stderr().write(FIRST_LINE);
  return FIRST_STEP;
}

/**
 * Lets go of a terminal that is gone by the time this process ends. Node 20 then puts back the settings of the terminal it
 * began with, and aborts where the system refuses that; a stream that is something else by now it leaves alone.
 */
function watchTerminal(): void {
  const terminals = [0, 1, 2].filter((fd) => isatty(fd));
  if (terminals.length > 0) process.once("exit", () => releaseLost(terminals));
}

function releaseLost(terminals: readonly number[]): void {
  for (const fd of terminals) {
    if (isatty(fd)) continue;
    closeSync(fd);
    // The lowest number that is free is this one.
    openSync("/dev/null", "r+");
  }
}

function endAtSignals(): void {
  for (const [signal, exit] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 143],
  ] as const) {
    // Transactions are atomic, so leaving at once leaves nothing half done. Work that must restore first listens too,
    // and then the process ends when that work does.
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(exit);
    });
  }
}

/** One agent run in a process that belongs to no terminal. Signals end it as they end one at a terminal. */
async function startSupervised(): Promise<void> {
  endAtSignals();
  const { runSupervised } = await import("./surfaces/cli/supervised.ts");
  const { env, platform } = process;
  process.exitCode = await runSupervised({ env, platform, serveMcp: serveAgent });
}

/** MCP for an agent in its cage. Most agents never ask, so nothing is loaded before one does. */
async function serveAgent(
  folder: string,
): Promise<{ readonly url: string; readonly token: string; close(): Promise<void> }> {
  const { startLater } = await import("./surfaces/http/server/lazy-mcp.ts");
  const { env, platform, stderr } = process;
  return startLater(async () => {
    const { openMcpHttp } = await import("./surfaces/mcp/mcp.ts");
    return openMcpHttp({ env, platform, stderr, version: readVersion() }, folder, true);
  });
}

function readVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  return version;
}
