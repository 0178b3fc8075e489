import { readFileSync } from "node:fs";

/** Starts a door: the command line, a hook, or the studio. The only place that knows the process and all surfaces. */
export async function main(argv: readonly string[]): Promise<void> {
  if (isHook(argv)) await openHook(argv);
  else if (argv[0] === "studio") await startStudio(argv.slice(1));
  else await startCli(argv);
}

/** The HTTP door; an interrupt closes it. */
async function startStudio(argv: readonly string[]): Promise<void> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop.abort());
  const { runStudio } = await import("./surfaces/http/studio.ts");
  const { stdout, stderr, env, platform } = process;
  const world = { argv, cwd: process.cwd(), env, platform, version: readVersion(), stdout, stderr };
  process.exitCode = await runStudio({ ...world, signal: stop.signal });
}

const HOOKS = ["pre-tool", "post-tool", "stop"];

function isHook([noun, verb]: readonly string[]): boolean {
  return noun === "hook" && HOOKS.includes(verb ?? "");
}

/** A hook with nothing but its client goes the short way; anything else is for the command line to explain. */
async function openHook(argv: readonly string[]): Promise<void> {
  const { failHook, startHook } = await import("./hook.ts");
  const isPlain = argv.length === 2 || (argv.length === 4 && argv[2] === "--client");
  if (isPlain) return startHook(argv);
  process.on("uncaughtException", failHook);
  await startCli(argv).catch(failHook);
}

async function startCli(argv: readonly string[]): Promise<void> {
  // A closed pipe (`| head`) is not an error of ours.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
  for (const [signal, exit] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const) {
    // Transactions are atomic, so leaving at once leaves nothing half done. Work that must restore first listens too,
    // and then the process ends when that work does.
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(exit);
    });
  }
  // Loaded here, because hooks must not wait for it.
  const { runCli } = await import("./surfaces/cli/run.ts");
  process.exitCode = await runCli({
    argv,
    cwd: process.cwd(),
    env: process.env,
    platform: process.platform,
    version: readVersion(),
    streams: { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr },
  });
}

function readVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  return version;
}
