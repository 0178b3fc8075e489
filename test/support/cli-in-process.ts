import { join } from "node:path";
import { PassThrough, Readable, Writable } from "node:stream";
import type { Streams } from "../../src/surfaces/cli/io.ts";
import { type CliEnvironment, runCli } from "../../src/surfaces/cli/run.ts";
import type { CliOptions, CliResult } from "./cli.ts";

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

/**
 * What `runCli` of cli.ts answers, from source and inside this process: starting Node and loading the program costs thirty
 * times what most verbs do. For whatever depends on the process itself (signals, descriptors, the folder it is in, the
 * program as it was built) a process is started.
 */
export async function runHere(
  argv: readonly string[],
  { cwd, stdin, env }: Pick<CliOptions, "cwd" | "stdin" | "env">,
  more: Pick<CliEnvironment, "resolveName" | "serveMcp"> = {},
): Promise<CliResult> {
  const [stdout, stderr] = [collect(), collect()];
  const input = Readable.from(stdin === undefined ? [] : [Buffer.from(stdin)]);
  const streams = { stdin: input, stdout: stdout.stream, stderr: stderr.stream } as unknown as Streams;
  const exit = await runCli({
    argv,
    cwd,
    env: { PATH: process.env["PATH"], HOME: join(cwd, "..", "home"), NO_COLOR: "1", ...env },
    platform: process.platform,
    version: "0.0.0",
    streams,
    ...more,
  });
  return { exit, stdout: stdout.text(), stderr: stderr.text() };
}

function collect() {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer | string, _, done) {
      chunks.push(Buffer.from(chunk));
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString("utf8") };
}
