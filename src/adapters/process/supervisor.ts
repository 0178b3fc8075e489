import type { ChildProcess } from "node:child_process";
import { constants } from "node:os";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Ending, LaunchRequest } from "../../rooms/catalytic/ports.ts";

const GRACE_MS = 2000;
/** Thousands of processes may have to end on a busy machine, and without whoever watches over them the view is lost. */
const END_MS = 10_000;

/** What the supervisor can do to a command: ask it to end, end everything, or end even what watches over it. */
export interface Leash {
  signal(name: "SIGINT" | "SIGTERM"): void;
  kill(): void;
  /** For a launcher that does not answer: the command may have stopped it or got into it. */
  destroy?(): void;
}

interface RawEnding {
  readonly code: number | null;
  readonly signal: number;
  readonly orphans_killed: number;
}

/**
 * Watches the time and the interruptions of one command. After the time SIGTERM, two seconds later SIGKILL; an
 * interruption is forwarded, a second one kills at once. What is still there ten seconds after that is ended from outside.
 */
export class Supervisor {
  readonly ended: Promise<Ending>;
  readonly #leash: Leash;
  #timedOut = false;
  #interruptions = 0;
  #timers: NodeJS.Timeout[] = [];
  #resolve: (ending: Ending) => void = () => undefined;
  #reject: (reason: unknown) => void = () => undefined;

  constructor(leash: Leash, timeoutMs: number) {
    this.#leash = leash;
    this.ended = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#after(timeoutMs, () => {
      this.#timedOut = true;
      this.#leash.signal("SIGTERM");
      this.#after(GRACE_MS, () => this.#kill());
    });
  }

  interrupt(name: "SIGINT" | "SIGTERM"): void {
    this.#interruptions++;
    if (this.#interruptions > 1) this.#kill();
    else this.#leash.signal(name);
  }

  /** One more word to the command, which kills nobody. */
  ask(name: "SIGINT" | "SIGTERM"): void {
    this.#leash.signal(name);
  }

  /** Ends everything at once, without asking. */
  end(): void {
    this.#kill();
  }

  finish(raw: RawEnding): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#resolve(toEnding({ ...raw, timed_out: this.#timedOut, interrupted: this.#interruptions > 0 }));
  }

  fail(reason: unknown): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#reject(reason);
  }

  #kill(): void {
    this.#leash.kill();
    this.#after(END_MS, () => this.#leash.destroy?.());
  }

  #after(ms: number, act: () => void): void {
    this.#timers.push(setTimeout(act, ms));
  }
}

/** Hands the output of a child on as it comes; resolves when both streams are at their end. */
export function pipeOutput(
  child: ChildProcess,
  onOutput: (stream: "stdout" | "stderr", bytes: Uint8Array) => void,
): Promise<void> {
  const streams = [
    ["stdout", child.stdout],
    ["stderr", child.stderr],
  ] as const;
  const closings = streams.map(([name, stream]) => {
    if (stream === null) return Promise.resolve();
    stream.on("data", (bytes: Buffer) => onOutput(name, bytes));
    return new Promise<void>((resolve) => stream.once("close", () => resolve()));
  });
  return Promise.all(closings).then(() => undefined);
}

/** The name of a signal number, such as SIGKILL. */
function signalName(number: number): string | null {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? null;
}

/** How a command ended, in the words of a proof: 124 for a timeout, 128+n for a signal. */
function toEnding(parts: {
  readonly code: number | null;
  readonly signal: number;
  readonly timed_out: boolean;
  readonly interrupted: boolean;
  readonly orphans_killed: number;
}): Ending {
  const { code, signal, timed_out, interrupted, orphans_killed } = parts;
  const name = signal === 0 ? null : (signalName(signal) ?? `SIG${signal}`);
  const exit_code = timed_out ? 124 : signal !== 0 ? 128 + signal : (code ?? 0);
  return { exit_code, signal: name, timed_out, interrupted, orphans_killed };
}

/** What a child gets as its standard input. */
export function toStdin({ stdin, input }: Pick<LaunchRequest, "stdin" | "input">): "inherit" | "ignore" | "pipe" {
  if (input !== undefined) return "pipe";
  return stdin === "inherit" ? "inherit" : "ignore";
}

/** Gives a child its input as fast as it reads. One that ends before its input is at an end has read enough. */
export function feedInput(child: ChildProcess, { input }: Pick<LaunchRequest, "input">): void {
  const { stdin } = child;
  if (input === undefined || stdin === null) return;
  child.once("exit", () => stdin.destroy());
  // Whoever made the input knows why it broke off; the child sees that it is not whole.
  pipeline(Readable.from(input.open()), stdin).catch(() => undefined);
}
