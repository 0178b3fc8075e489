import { VerbatimError } from "../../core/errors/index.ts";
import { showLine } from "../../core/text/index.ts";
import { cutText, displayWidth } from "./display-width.ts";
import type { Streams } from "./io.ts";
import { type Key, readKeys } from "./keys.ts";

/** How a piece of text looks. Without colours only what cannot be said otherwise is left of it. */
export type Style =
  | "plain"
  | "bold"
  | "dim"
  | "good"
  | "bad"
  | "warn"
  | "added"
  | "removed"
  | "added word"
  | "removed word"
  | "box"
  | "key";

export interface Piece {
  readonly text: string;
  readonly style?: Style;
}

/** One line of the screen. */
export type Row = readonly Piece[];

const CODES: Readonly<Record<Style, string>> = {
  plain: "",
  bold: "1",
  dim: "2",
  good: "32",
  bad: "31",
  warn: "33",
  added: "32",
  removed: "31",
  "added word": "1;30;42",
  "removed word": "1;37;41",
  box: "7",
  key: "1;36",
};
/** What NO_COLOR leaves: weight and inversion are no colours. */
const PLAIN_CODES: Readonly<Partial<Record<Style, string>>> = {
  bold: "1",
  box: "7",
  key: "1",
  "added word": "4",
  "removed word": "4",
};

const ENTER = "\u001b[?1049h\u001b[?25l\u001b[?2004h";
const LEAVE = "\u001b[?2004l\u001b[?25h\u001b[0m\u001b[?1049l";
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** A terminal that is drawn on as a whole. What was on it before comes back when it is closed, however it ends. */
export interface Screen {
  size(): { readonly rows: number; readonly columns: number };
  /** Draws every line anew; what does not fit is cut with an ellipsis. Texts may be hostile. */
  draw(rows: readonly Row[]): void;
  /** The next key, or that the size is another. Ctrl-C and signals are INTERRUPTED. */
  key(): Promise<Key>;
  /** Forgets what was typed before there was a question. */
  forget(): void;
  /** Gives the terminal back while something else writes on it. */
  leave<T>(work: () => Promise<T>): Promise<T>;
  close(): void;
}

/** Takes the terminal over. `signals`: where they are heard. `wipe` takes away what must not come after the screen is back. */
export function openScreen(streams: Streams, colours: boolean, signals: NodeJS.EventEmitter, wipe: () => void): Screen {
  const { stdin, stdout } = streams;
  const queue: Key[] = [];
  let wake: (() => void) | null = null;
  let ended: VerbatimError | null = null;
  let isGone = false;
  const push = (...keys: readonly Key[]) => {
    queue.push(...keys);
    wake?.();
  };
  const keys = readKeys(push);
  const take = (bytes: Buffer) => keys.take(bytes);
  const onResize = () => push({ name: "resize" });
  const onEnd = () => stop(130);
  const stop = (exit: number) => {
    ended = new VerbatimError("INTERRUPTED", { message: "nothing was applied", exit });
    wake?.();
  };
  const hear = (name: (typeof SIGNALS)[number]) => () => {
    isGone = name === "SIGHUP";
    stop(name === "SIGINT" ? 130 : 143);
  };
  const heard = SIGNALS.map((name) => [name, hear(name)] as const);
  const enter = () => {
    stdin.setRawMode?.(true);
    stdin.on("data", take);
    stdin.once("end", onEnd);
    stdin.resume();
    stdout.on("resize", onResize);
    for (const [name, act] of heard) signals.on(name, act);
    stdout.write(ENTER);
  };
  const leave = () => {
    stdin.off("data", take);
    stdin.off("end", onEnd);
    stdin.pause();
    stdout.off("resize", onResize);
    for (const [name, act] of heard) signals.off(name, act);
    stdout.write(LEAVE);
    // A terminal that is gone has no settings to put back.
    if (!isGone) stdin.setRawMode?.(false);
  };
  enter();
  return {
    size: () => ({ rows: Math.max(6, stdout.rows || 24), columns: Math.max(20, stdout.columns || 80) }),
    draw(rows) {
      const columns = Math.max(20, stdout.columns || 80);
      const lines = rows.map((row) => `${paintRow(row, columns, colours)}\u001b[0m\u001b[K`);
      stdout.write(`\u001b[H${lines.join("\r\n")}\u001b[J`);
    },
    async key() {
      for (;;) {
        if (ended !== null) throw ended;
        const next = queue.shift();
        if (next !== undefined) {
          if (next.name !== "ctrl-c") return next;
          stop(130);
          continue;
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        wake = null;
      }
    },
    forget: () => void queue.splice(0),
    async leave(work) {
      leave();
      try {
        return await work();
      } finally {
        wipe();
        queue.splice(0);
        enter();
      }
    },
    close: leave,
  };
}

function paintRow(row: Row, columns: number, colours: boolean): string {
  let left = columns;
  let line = "";
  for (const [i, { text, style = "plain" }] of row.entries()) {
    const clean = showLine(text);
    const width = displayWidth(clean);
    const isCut = width > left || (width === left && row.slice(i + 1).some((one) => one.text !== ""));
    const shown = isCut ? `${cutText(clean, left - 1)}…` : clean;
    const code = (colours ? CODES[style] : PLAIN_CODES[style]) ?? "";
    line += code === "" ? shown : `\u001b[${code}m${shown}\u001b[0m`;
    if (isCut) break;
    left -= width;
  }
  return line;
}
