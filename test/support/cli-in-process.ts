import { PassThrough } from "node:stream";
import { type CliEnvironment, runCli } from "../../src/surfaces/cli/run.ts";

export interface Said {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Both streams in the order in which they were written, as a terminal would show them. */
  readonly both: string;
}

/** Runs one command line from source inside this process; with `tty` as if somebody sat at a terminal. */
export async function runInProcess(
  argv: readonly string[],
  cwd: string,
  tty = false,
  env: Readonly<Record<string, string>> = {},
): Promise<Said> {
  const texts = { stdout: "", stderr: "", both: "" };
  const open = (name: "stdout" | "stderr") => {
    const stream = new PassThrough();
    stream.on("data", (chunk: Buffer) => {
      texts[name] += chunk.toString("utf8");
      texts.both += chunk.toString("utf8");
    });
    return Object.assign(stream, { isTTY: tty, columns: 80 });
  };
  const streams = {
    stdin: Object.assign(new PassThrough(), { isTTY: tty }),
    stdout: open("stdout"),
    stderr: open("stderr"),
  };
  const exit = await runCli({
    argv,
    cwd,
    env: { HOME: cwd, NO_COLOR: "1", TERM: "xterm", ...env },
    platform: process.platform,
    version: "0.0.0",
    streams: streams as unknown as CliEnvironment["streams"],
  });
  return { exit, ...texts };
}
