import { spawn } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { recordSaid } from "./said-codes.ts";

/** The program as people start it. */
export const BIN = new URL("../../bin/verbatim.js", import.meta.url).pathname;

export interface CliResult {
  readonly exit: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly cwd: string;
  readonly stdin?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  readonly node?: readonly string[];
  /** Another copy of the program. */
  readonly bin?: string;
}

/** Runs the built command line in a folder with a home of its own. */
export function runCli(args: readonly string[], options: CliOptions): Promise<CliResult> {
  const env = { PATH: process.env["PATH"], HOME: join(options.cwd, "..", "home"), NO_COLOR: "1", ...options.env };
  const child = spawn(process.execPath, [...(options.node ?? []), options.bin ?? BIN, ...args], {
    cwd: options.cwd,
    env,
  });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
  child.stdin.end(options.stdin ?? "");
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (exit) => {
      const [stdout, stderr] = [Buffer.concat(out).toString("utf8"), Buffer.concat(err).toString("utf8")];
      if (exit !== 0) recordSaid(`${stdout}${stderr}`);
      resolve({ exit, stdout, stderr });
    });
  });
}

/** A folder that is gone when the test is. */
export function makeFolder(): string {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-cli-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  return base;
}
