import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";

interface CommandRequest {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin?: Uint8Array;
  readonly timeout_ms: number;
  /** More output than this on stdout ends the command. */
  readonly most_bytes?: number;
  readonly signal: AbortSignal;
  /** Told the number of the process as soon as there is one. */
  readonly onStart?: (pid: number) => void;
}

interface CommandAnswer {
  /** 124 timeout, 127 not found, 128+n signal. */
  readonly exit_code: number;
  readonly ending: "exited" | "timeout" | "not_found" | "too_much_output" | "aborted";
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  readonly duration_ms: number;
}

const GRACE_MS = 5000;
/** How long pipes may stay open after the command ended: what left its group would hold them for ever. */
const DRAIN_MS = 1000;
const MOST_TURNS = 1000;
/** The longest time a timer can count. */
const LONGEST_MS = 2 ** 31 - 1;
/** Kept of each stream when nobody limits it. */
const LOG_BYTES = 64 * 1024 * 1024;

/**
 * Runs a command without a shell in its own process group, with exactly the given environment. At the timeout, at an
 * abort or when it says too much the whole group is asked to end, and killed five seconds later.
 */
export function runCommand(request: CommandRequest): Promise<CommandAnswer> {
  const started = performance.now();
  const most = request.most_bytes ?? LOG_BYTES;
  return new Promise((done, fail) => {
    let ending: CommandAnswer["ending"] = "exited";
    const [stdout, stderr] = [new Kept(most), new Kept(LOG_BYTES)];
    const finish = (exit_code: number) => {
      clearTimeout(timer);
      clearTimeout(killer);
      clearTimeout(drain);
      request.signal.removeEventListener("abort", onAbort);
      const duration_ms = Math.round(performance.now() - started);
      done({ exit_code, ending, stdout: stdout.bytes(), stderr: stderr.bytes(), duration_ms });
    };
    let timer: NodeJS.Timeout | undefined;
    let killer: NodeJS.Timeout | undefined;
    let drain: NodeJS.Timeout | undefined;
    const refuse = (thrown: Error) => {
      ending = "not_found";
      stderr.add(Buffer.from(`${thrown.message}\n`));
      finish(127);
    };
    let child: ChildProcess;
    try {
      child = start(request);
    } catch (thrown) {
      if (!(thrown instanceof Error)) throw thrown;
      return refuse(thrown);
    }
    if (child.pid !== undefined) request.onStart?.(child.pid);
    const end = (why: CommandAnswer["ending"]) => {
      if (ending !== "exited") return;
      ending = why;
      endGroup(child.pid, "SIGTERM");
      killer = setTimeout(() => endGroup(child.pid, "SIGKILL"), GRACE_MS);
    };
    const onAbort = () => end("aborted");
    timer = setTimeout(() => end("timeout"), Math.min(request.timeout_ms, LONGEST_MS));
    request.signal.addEventListener("abort", onAbort);
    if (request.signal.aborted) onAbort();
    child.stdout?.on("data", (chunk: Buffer) => {
      if (!stdout.add(chunk) && request.most_bytes !== undefined) end("too_much_output");
    });
    child.stderr?.on("data", (chunk: Buffer) => stderr.add(chunk));
    child.on("error", refuse);
    child.on("exit", () => {
      // What the command left behind in its group must not outlive it or keep its pipes open.
      endGroup(child.pid, "SIGKILL");
      drain = setTimeout(() => letGo(child, MOST_TURNS), DRAIN_MS);
    });
    child.on("close", (code, signal) => {
      if (ending === "not_found") return;
      const byEnd = ending === "timeout" ? 124 : signal === null ? (code ?? 0) : 128 + constants.signals[signal];
      finish(byEnd);
    });
    child.stdin?.on("error", (thrown: NodeJS.ErrnoException) => {
      if (thrown.code !== "EPIPE" && thrown.code !== "ECONNRESET") fail(thrown);
    });
    if (request.stdin !== undefined) child.stdin?.end(request.stdin);
  });
}

/**
 * Whoever still holds the pipes of a command that has ended is not waited for. On a busy machine the time may be over before
 * what is in the pipes was read: as long as something comes, it is read.
 */
function letGo(child: ChildProcess, turns: number): void {
  const pipes = [child.stdout, child.stderr];
  let came = false;
  const note = () => {
    came = true;
  };
  for (const pipe of pipes) pipe?.on("data", note);
  setImmediate(() =>
    setImmediate(() => {
      for (const pipe of pipes) pipe?.off("data", note);
      if (came && turns > 0) letGo(child, turns - 1);
      else for (const pipe of pipes) pipe?.destroy();
    }),
  );
}

function start({ argv, cwd, env, stdin }: CommandRequest): ChildProcess {
  return spawn(argv[0]!, argv.slice(1), {
    cwd,
    env: { ...env },
    stdio: [stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    detached: process.platform !== "win32",
    windowsHide: true,
  });
}

/** The first bytes of a stream, up to a limit. */
class Kept {
  readonly #chunks: Buffer[] = [];
  #left: number;

  constructor(most: number) {
    this.#left = most;
  }

  /** False when something had to be dropped. */
  add(chunk: Buffer): boolean {
    const kept = chunk.subarray(0, this.#left);
    this.#left -= kept.length;
    if (kept.length > 0) this.#chunks.push(kept);
    return kept.length === chunk.length;
  }

  bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }
}

function endGroup(pid: number | undefined, signal: "SIGTERM" | "SIGKILL"): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === "win32" ? pid : -pid, signal);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "ESRCH") throw thrown;
  }
}
