import { spawn } from "node:child_process";
import { statfsSync } from "node:fs";
import { VerbatimError } from "../../core/errors/index.ts";

/** What a finished git process left. */
interface GitAnswer {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

interface GitCall {
  readonly cwd: string;
  readonly args: readonly string[];
  readonly stdin?: Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
}

/** Settings that no configuration of a repository may change, and nothing it could make git execute. */
const SETTINGS = [
  "apply.whitespace=nowarn",
  "apply.ignorewhitespace=no",
  "core.quotePath=true",
  "core.fsmonitor=false",
  "core.hooksPath=/dev/null",
  "core.safecrlf=false",
  "advice.detachedHead=false",
].flatMap((setting) => ["-c", setting]);

/** With less nothing that git has to write finds a place. */
const LEAST_BYTES = 64 * 1024;

const KEPT = new Set(["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"]);

/** The caller's environment without anything that points git at another repository or index. */
export function gitEnvironment(extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (!name.startsWith("GIT_") || KEPT.has(name)) env[name] = value;
  }
  return { ...env, LC_ALL: "C", GIT_TERMINAL_PROMPT: "0", GIT_OPTIONAL_LOCKS: "0", ...extra };
}

/**
 * Nobody's settings: neither the user's nor the system's. Where the files are someone else's, their attributes must not
 * choose among the programs the user has set up for files of their own.
 */
export const NO_SETTINGS = {
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_ATTR_NOSYSTEM: "1",
} as const;

/** Runs git without a shell and waits for it. A non-zero exit is an answer, not an error. */
export function runGit(call: GitCall): Promise<GitAnswer> {
  return new Promise((done, fail) => {
    const child = spawn("git", [...SETTINGS, ...call.args], {
      cwd: call.cwd,
      env: gitEnvironment(call.env),
      stdio: ["pipe", "pipe", "pipe"],
      windowsHide: true,
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
    child.on("error", (cause) =>
      fail(new VerbatimError("PATCH_ENV_INVALID", { message: "git could not be started", where: call.cwd, cause })),
    );
    child.on("close", (code) =>
      done({ code: code ?? 128, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString("utf8") }),
    );
    // git may stop reading early; its exit code tells why.
    child.stdin.on("error", (thrown: NodeJS.ErrnoException) => {
      if (thrown.code !== "EPIPE") fail(thrown);
    });
    child.stdin.end(call.stdin ?? new Uint8Array());
  });
}

/** Runs git and insists on success. */
export async function requireGit(call: GitCall): Promise<Buffer> {
  const answer = await runGit(call);
  if (answer.code === 0) return answer.stdout;
  if (isFull(call.cwd, answer.stderr)) throw new VerbatimError("DISK_FULL", { where: call.cwd });
  throw new VerbatimError("INTERNAL", {
    message: `git ${call.args[0] ?? ""} failed with ${answer.code}: ${answer.stderr.trim().slice(0, 2000)}`,
    where: call.cwd,
  });
}

/** git says why in words, and not always; where nothing fits any more that is the reason. */
function isFull(folder: string, stderr: string): boolean {
  if (stderr.includes("No space left on device")) return true;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize < LEAST_BYTES;
}

/** The names in a NUL-separated list. */
export function splitNul(output: Buffer): string[] {
  return output
    .toString("utf8")
    .split("\0")
    .filter((name) => name !== "");
}
