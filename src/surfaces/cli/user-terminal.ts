import type { UserTerminal } from "../../app/compose/compose.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import type { Streams } from "./io.ts";

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
