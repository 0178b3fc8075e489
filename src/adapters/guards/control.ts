import type { ChildProcess } from "node:child_process";
import { constants } from "node:os";
import type { Duplex } from "node:stream";
import { VerbatimError } from "../../core/errors/index.ts";
import type { LaunchRequest } from "../../rooms/catalytic/ports.ts";
import { endTree } from "../process/children.ts";
import { feedInput, type Leash, pipeOutput, Supervisor } from "../process/supervisor.ts";

const SHOWN_LINES = 5;

/** A launcher that talks on descriptor 3: READY, EXIT one way, TERM, INT, KILL, DONE the other. */
export class ControlledLauncher {
  readonly child: ChildProcess;
  /** The launcher is gone and everything it said was heard. */
  readonly exited: Promise<void>;
  readonly drained: Promise<void>;
  readonly #control: Duplex;
  readonly #timeout: number;
  readonly #leash: Leash;
  readonly #onOutput: LaunchRequest["onOutput"];
  readonly #onRelayLost: () => void;
  #supervisor: Supervisor | null = null;
  #lines = "";
  #errors: Buffer[] = [];
  #onReady: (() => void) | null = null;
  #isDestroyed = false;

  /** Without a leash signals are words on the channel. */
  constructor(
    child: ChildProcess,
    request: Pick<LaunchRequest, "timeout_ms" | "onOutput" | "onRelayLost" | "input">,
    leash?: Leash,
  ) {
    this.child = child;
    this.#timeout = request.timeout_ms;
    this.#onOutput = request.onOutput;
    this.#onRelayLost = () => request.onRelayLost?.();
    this.#control = child.stdio[3] as Duplex;
    const send = (word: string) => void this.#control.write(`${word}\n`);
    const words = { signal: (name: string) => send(name.slice(3)), kill: () => send("KILL") };
    this.#leash = { ...(leash ?? words), destroy: () => this.destroy() };
    const ended = new Promise<void>((resolve) => {
      child.once("exit", () => resolve());
      child.once("error", () => resolve());
    });
    const closed = new Promise<void>((resolve) => this.#control.once("close", () => resolve()));
    // The news of an exit may come before the last words do.
    this.exited = Promise.all([ended, closed]).then(() => undefined);
    this.drained = pipeOutput(child, (stream, bytes) => {
      // What the launcher says before the command starts is not the command's output.
      if (this.#supervisor === null && stream === "stderr") this.#errors.push(Buffer.from(bytes));
      else request.onOutput(stream, bytes);
    });
    feedInput(child, request);
    // The channel breaks when the launcher dies, which its exit reports.
    this.#control.on("error", () => undefined);
    this.#control.on("data", (bytes: Buffer) => this.#hear(bytes.toString()));
  }

  /** Resolves when the command was actually started; GUARD_START_FAILED when the launcher ended before that. */
  async started(): Promise<Supervisor> {
    const ready = new Promise<boolean>((resolve) => {
      // A quick command may be under way, or over, before anyone asks.
      if (this.#supervisor !== null) resolve(true);
      this.#onReady = () => resolve(true);
      void this.exited.then(() => resolve(false));
    });
    if (!(await ready) || this.#supervisor === null) {
      await this.drained;
      const lines = Buffer.concat(this.#errors).toString().trim().split("\n").slice(-SHOWN_LINES).join("\n");
      throw startFailed(lines || "the launcher printed nothing");
    }
    const supervisor = this.#supervisor;
    const gone = () => {
      if (this.#isDestroyed) supervisor.finish({ code: null, signal: constants.signals.SIGKILL, orphans_killed: 0 });
      else supervisor.fail(new VerbatimError("GUARD_LOST"));
    };
    void this.exited.then(gone);
    supervisor.ended.catch(() => undefined);
    return supervisor;
  }

  /** Ends the launcher and everything below it from outside, which nothing inside can prevent. */
  destroy(): void {
    this.#isDestroyed = true;
    if (this.child.pid !== undefined) endTree(this.child.pid);
  }

  async release(): Promise<void> {
    this.#control.write("DONE\n");
    await this.exited;
    await this.drained;
  }

  #hear(text: string): void {
    this.#lines += text;
    for (let end = this.#lines.indexOf("\n"); end !== -1; end = this.#lines.indexOf("\n")) {
      const line = this.#lines.slice(0, end);
      this.#lines = this.#lines.slice(end + 1);
      if (line === "READY") {
        this.#supervisor = new Supervisor(this.#leash, this.#timeout);
        // A launcher that gets this far has said nothing: a quick command's words came in before READY did.
        for (const bytes of this.#errors) this.#onOutput("stderr", bytes);
        this.#onReady?.();
      } else if (line === "LOST") this.#onRelayLost();
      else if (line.startsWith("EXIT ")) {
        // It ended before it was ready: nothing will be read out of it, so it may go, and its exit is the answer.
        if (this.#supervisor === null) this.#control.write("DONE\n");
        const [code, signal, left] = line.slice(5).split(" ").map(Number);
        this.#supervisor?.finish({ code: code ?? 0, signal: signal ?? 0, orphans_killed: left ?? 0 });
      }
    }
  }
}

const FORBIDDEN = /\b(?:mount|unshare)\b[^\n]*(?:Operation not permitted|Permission denied)/i;

/** The guard did not start; the command was not run. */
export function startFailed(lines: string, isRoot = process.getuid?.() === 0): VerbatimError {
  const who = isRoot ? "" : " for ordinary users";
  const message = FORBIDDEN.test(lines)
    ? `this machine does not allow overlays${who}`
    : `the guard did not start: ${lines}`;
  return new VerbatimError("GUARD_START_FAILED", { message, details: { lines } });
}

/** Tells a launcher which terminal the command gets. */
export function formatTerminal({ tty }: LaunchRequest): [string, string][] {
  if (tty === undefined) return [];
  return [
    ["tty", tty.path],
    ["ttyerr", tty.errors ? "1" : ""],
  ];
}

/** Tells a launcher what the command may use. */
export function formatLimits({ limits }: LaunchRequest): [string, string][] {
  if (limits === undefined) return [];
  return [
    ...limits.groups.map((file): [string, string] => ["group", file]),
    ["fsize", String(limits.file)],
    ["tmpsize", String(limits.temporary)],
  ];
}

/** Settings of a launcher: NUL-separated pairs, because names and arguments may hold anything else. */
export function formatPairs(pairs: readonly (readonly [string, string])[]): string {
  return pairs.map(([key, value]) => `${key}=${value}\0`).join("");
}
