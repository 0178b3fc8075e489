import { formatDuration, groupDigits } from "../../app/agent/report/explain-words.ts";
import type { UserTerminal } from "../../app/compose/compose.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import type { Progress, ProgressStep } from "../../core/ports.ts";
import { showLine } from "../../core/text/index.ts";
import type { Streams } from "./io.ts";

// What is drawn on a terminal and read from it besides the lines of a verb: progress, the output of a command as it comes, keys.

/** A progress line on a terminal; silent in a pipe. */
export interface ProgressBar extends Progress {
  /** Wipes the line, so that something else can be written; the next report draws it again. */
  end(): void;
}

const WIDTH = 24;
const SMALLEST_STEP = 0.01;
/** A line that stands still says at least how long it has. */
const TICK_MS = 1000;

/**
 * Draws at most a hundred times per label, so that reporting costs nothing, and once a second while nothing is reported.
 * `begun`: the step whose line stands there already, as the first sign.
 */
export function createProgressBar(
  stream: Streams["stderr"],
  wanted: boolean,
  begun: ProgressStep | null = null,
): ProgressBar {
  if (!wanted || stream.isTTY !== true) return { report: () => undefined, end: () => undefined };
  let shown: ProgressStep | null = begun;
  let label = "";
  let last = -1;
  let since = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const draw = (step: ProgressStep) => {
    const ms = Math.round(performance.now() - since);
    const time = step.ended === true ? formatDuration(ms) : ms < 1000 ? "" : `${Math.floor(ms / 1000)} s`;
    const line = `${formatStep(step)}${time === "" ? "" : `  ${time}`}`;
    stream.write(`\r\u001b[K${line.slice(0, Math.max(20, (stream.columns || 80) - 1))}`);
  };
  const tick = () => {
    timer ??= setInterval(() => {
      if (shown !== null) draw(shown);
    }, TICK_MS).unref();
  };
  const rest = () => {
    clearInterval(timer);
    timer = undefined;
    shown = null;
    label = "";
  };
  if (begun !== null) tick();
  return {
    report(step) {
      const share = step.total === undefined || step.total === 0 ? 0 : step.done / step.total;
      const due =
        step.ended === true ||
        step.label !== label ||
        share >= 1 ||
        share - last >= SMALLEST_STEP ||
        step.total === undefined;
      if (!due) return;
      if (step.label !== label && !(shown !== null && shown === begun && step.label === begun.label))
        since = performance.now();
      label = step.label;
      last = share;
      shown = step;
      draw(step);
      if (step.ended !== true) return tick();
      stream.write("\n");
      rest();
    },
    end() {
      if (shown !== null) stream.write("\r\u001b[K");
      rest();
    },
  };
}

function formatStep({ label, done, total, unit }: ProgressStep): string {
  const name = showLine(label);
  const what = unit === undefined ? "" : ` ${unit}`;
  if (total === undefined) return done === 0 ? `${name} ...` : `${name}  ${groupDigits(done)}${what}`;
  const bar = "█".repeat(Math.round((total === 0 ? 0 : done / total) * WIDTH)).padEnd(WIDTH, "░");
  return `${bar} ${name}  ${groupDigits(done)} of ${groupDigits(total)}${what}`;
}

/** So much of the end of an output decides whether its last line is finished. */
const TAIL = 256;
const SEQUENCES = /(?:\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[ -/]*[0-Z`-~]))+$/;

/** Bytes of a command that runs for the caller, as they come; what we say ourselves begins on a line of its own. */
export class CommandOutput {
  #target: { write(bytes: Uint8Array | string): unknown } | null = null;
  #tail = "";

  write(target: { write(bytes: Uint8Array | string): unknown }, bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#tail = `${this.#target === target ? this.#tail : ""}${Buffer.from(bytes).toString("latin1")}`.slice(-TAIL);
    this.#target = target;
    target.write(bytes);
  }

  /** Ends a line that the command left open. Colours and cursor movements after a line feed open none. */
  endLine(): void {
    const text = this.#tail.replace(SEQUENCES, "");
    const target = this.#target;
    this.#target = null;
    this.#tail = "";
    if (target !== null && text !== "" && !/[\r\n]$/.test(text)) target.write("\n");
  }
}

const CTRL_C = 0x03;
/** So many times Ctrl-C within this time is meant for the program, and so is each one after: an agent may not listen. */
const ENOUGH = 3;
const ENOUGH_MS = 2000;

/** Leaves the other screen. Only for who is there: elsewhere it would move the cursor. */
const LEAVE_SCREEN = "\u001b[?1049l";
/**
 * Undoes what an agent may have left: a hidden cursor, mouse, focus, paste and key modes, a scroll region, another
 * character set, colours. The cursor stays where it is.
 */
const RESET = [
  ...["?25h", "?1000l", "?1002l", "?1003l", "?1004l", "?1006l", "?2004l", "?2026l", "?1l", "<u", ">4m"].map(
    (code) => `\u001b[${code}`,
  ),
  "\u001b>\u001b7\u001b[r\u001b8\u001b(B\u001b[0m",
].join("");

/** The terminal the program was started in, or null where input or output is something else. */
export function findUserTerminal({ stdin, stdout, stderr }: Streams, interrupt: () => void): UserTerminal | null {
  if (stdin.isTTY !== true || stdout.isTTY !== true) return null;
  return {
    errors: stderr.isTTY === true,
    size: () => ({ rows: stdout.rows || 24, columns: stdout.columns || 80 }),
    connect(onInput, onResize) {
      let pressed: number[] = [];
      const take = (bytes: Buffer) => {
        onInput(bytes);
        const now = performance.now();
        for (const key of bytes) {
          if (key !== CTRL_C) continue;
          pressed = [...pressed.filter((at) => now - at < ENOUGH_MS), now];
          if (pressed.length >= ENOUGH) interrupt();
        }
      };
      stdin.setRawMode(true);
      stdin.on("data", take);
      stdin.resume();
      stdout.on("resize", onResize);
      return (onOtherScreen) => {
        stdout.off("resize", onResize);
        stdin.off("data", take);
        stdin.pause();
        stdin.setRawMode(false);
        stdout.write(`${onOtherScreen ? LEAVE_SCREEN : ""}${RESET}`);
      };
    },
  };
}

/** How long a terminal may take to answer what an agent asked it in its last moment. */
const LATE_MS = 50;

/** Throws away what was typed, by hand or by a terminal's own answers, before there was a question. */
export async function dropTyped(stdin: Streams["stdin"]): Promise<void> {
  if (stdin.isTTY !== true) return;
  const drop = () => undefined;
  stdin.setRawMode(true);
  stdin.on("data", drop);
  stdin.resume();
  await new Promise((resolve) => setTimeout(resolve, LATE_MS));
  stdin.off("data", drop);
  stdin.pause();
  stdin.setRawMode(false);
}

const CTRL_D = 0x04;

/**
 * Waits for one of some keys and shows it. Enter, Ctrl-D and the end of the input are the empty text. What is pasted, or
 * sent by keys without a letter, is more than one character at once and means nothing.
 */
export async function readKey({ stdin, stderr }: Streams, keys: readonly string[]): Promise<string> {
  stdin.setRawMode?.(true);
  stdin.resume();
  try {
    return await new Promise<string>((resolve, reject) => {
      const end = (act: () => void) => {
        stdin.off("data", take);
        stdin.off("end", stop);
        act();
      };
      const stop = () => end(() => resolve(""));
      const take = (bytes: Buffer) => {
        const key = bytes.toString("latin1");
        if (bytes.length !== 1) return;
        if (bytes[0] === CTRL_C) {
          end(() => reject(new VerbatimError("INTERRUPTED", { message: "nothing was changed" })));
        } else if (key === "\r" || key === "\n" || bytes[0] === CTRL_D) stop();
        else if (keys.includes(key)) end(() => resolve(key));
      };
      stdin.on("data", take);
      stdin.once("end", stop);
    }).then((key) => {
      stderr.write(`${key}\n`);
      return key;
    });
  } finally {
    stdin.pause();
    stdin.setRawMode?.(false);
  }
}
