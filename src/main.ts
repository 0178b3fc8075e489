import { readFileSync } from "node:fs";
import { runCli } from "./surfaces/cli/run.ts";

/** Starts the command line. The only place that knows the process and, later, the other surfaces. */
export async function main(argv: readonly string[]): Promise<void> {
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
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  process.exitCode = await runCli({
    argv,
    cwd: process.cwd(),
    env: process.env,
    platform: process.platform,
    version,
    streams: { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr },
  });
}
