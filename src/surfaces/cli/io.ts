import { randomBytes } from "node:crypto";
import type { ReadStream, WriteStream } from "node:tty";
import { VerbatimError } from "../../core/errors/index.ts";
import { showLine, showText } from "../../core/text/index.ts";
import type { Screen } from "./screen.ts";
import { dropTyped, readKey } from "./terminal.ts";

/** What a verb was told besides its own input. */
export interface GlobalFlags {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly debug: boolean;
  readonly full: boolean;
  readonly progress: boolean;
}

/** The terminal as a verb sees it: results on stdout, everything else on stderr. */
export interface Io {
  readonly flags: GlobalFlags;
  /** Columns of the terminal; 80 in a pipe. */
  readonly width: number;
  readonly paint: Paint;
  /** Whether someone can answer questions. */
  readonly interactive: boolean;
  /** Asks a yes-or-no question; giving up is INTERRUPTED. */
  confirm(question: string): Promise<boolean>;
  /** Asks for one of some keys; Enter, and the end of the input, are the empty text. Ctrl-C is INTERRUPTED. */
  choose(question: string, keys: readonly string[]): Promise<string>;
  /** Asks for a line; Ctrl-C is INTERRUPTED. */
  readLine(question: string): Promise<string>;
  /** Takes the whole terminal over, until it is closed. */
  openScreen(): Promise<Screen>;
  /** Writes bytes of a result as they are, whatever they do to a terminal. */
  raw(bytes: Uint8Array): Promise<void>;
  /** Writes result text: exactly as given into a file or pipe, without control characters to a terminal. Painted text is
   * written as `line` writes it. */
  out(text: string | Uint8Array): Promise<void>;
  /** Writes a line of a result. Control characters in it are shown, not sent. */
  line(text?: string): void;
  /** Says something about the work on stderr; silent with --quiet. */
  note(text: string): void;
  /** Says on stderr what went wrong, also with --quiet. */
  fail(text: string): void;
  /** Waits until everything written has left. */
  flush(): Promise<void>;
}

/** Colours. Painted text is for `line`, `note` and `fail`, which know whether their stream wants colours. */
export interface Paint {
  bold(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  bad(text: string): string;
  warn(text: string): string;
}

export interface Streams {
  readonly stdin: ReadStream | NodeJS.ReadStream;
  readonly stdout: WriteStream | NodeJS.WriteStream;
  readonly stderr: WriteStream | NodeJS.WriteStream;
}

/** Connects a verb with its streams. `wipe` takes away what must not be next to a text. */
export function createIo(
  streams: Streams,
  env: NodeJS.ProcessEnv,
  flags: GlobalFlags,
  wipe: () => void = () => undefined,
): Io {
  const colours = { stdout: wantsColour(streams.stdout, env), stderr: wantsColour(streams.stderr, env) };
  const paint = createPaint(colours.stdout || colours.stderr);
  const say = (text: string) => {
    wipe();
    streams.stderr.write(`${finish(text, colours.stderr)}\n`);
  };
  let buffer = "";
  const write = (text: string | Uint8Array) => {
    wipe();
    return new Promise<void>((done) => streams.stdout.write(text, () => done()));
  };
  const flush = async () => {
    const text = buffer;
    buffer = "";
    if (text !== "") await write(text);
  };
  return {
    flags,
    width: streams.stdout.isTTY === true ? Math.max(40, streams.stdout.columns) : 80,
    paint,
    interactive: streams.stdin.isTTY === true && streams.stdout.isTTY === true,
    async confirm(question) {
      const { confirm, isCancel } = await import("@clack/prompts");
      await dropTyped(streams.stdin);
      const answer = await confirm({ message: showLine(finish(question, false)), output: streams.stderr });
      if (isCancel(answer)) throw new VerbatimError("INTERRUPTED", { message: "nothing was changed" });
      return answer;
    },
    async choose(question, keys) {
      await dropTyped(streams.stdin);
      streams.stderr.write(showLine(finish(question, false)));
      return await readKey(streams, keys);
    },
    async readLine(question) {
      const { createInterface } = await import("node:readline/promises");
      await dropTyped(streams.stdin);
      const lines = createInterface({ input: streams.stdin, output: streams.stderr });
      const given = new AbortController();
      lines.once("SIGINT", () => given.abort());
      try {
        return await lines.question(showLine(finish(question, false)), { signal: given.signal });
      } catch (thrown) {
        if (!given.signal.aborted) throw thrown;
        throw new VerbatimError("INTERRUPTED", { message: "nothing was changed" });
      } finally {
        lines.close();
      }
    },
    async openScreen() {
      await flush();
      wipe();
      const { openScreen } = await import("./screen.ts");
      return openScreen(streams, colours.stdout, process, wipe);
    },
    async raw(bytes) {
      await flush();
      await write(bytes);
    },
    async out(text) {
      await flush();
      const shown = typeof text === "string" ? text : new TextDecoder().decode(text);
      // Nobody but `paint` knows the mark, so a text with it is one of our own and never an exact result.
      if (shown.includes(TOKEN)) await write(finish(shown, colours.stdout));
      else await write(streams.stdout.isTTY === true ? showText(shown) : text);
    },
    line(text = "") {
      buffer += `${finish(text, colours.stdout)}\n`;
    },
    note(text) {
      if (!flags.quiet) say(text);
    },
    fail: say,
    flush,
  };
}

/** NO_COLOR and FORCE_COLOR decide before the kind of stream does. */
function wantsColour(stream: Streams["stdout"], env: NodeJS.ProcessEnv): boolean {
  if (env["NO_COLOR"] !== undefined && env["NO_COLOR"] !== "") return false;
  if (env["FORCE_COLOR"] !== undefined && env["FORCE_COLOR"] !== "" && env["FORCE_COLOR"] !== "0") return true;
  return stream.isTTY === true && env["TERM"] !== "dumb";
}

// Stands for the escape character until a line is written. Nobody outside can guess it, so nobody else can paint.
const TOKEN = randomBytes(8).toString("hex");
const MARK = `\u0000${TOKEN}`;
const PAINT = new RegExp(`${MARK}\\[\\d+m`, "g");
/** What is left of a mark when a painted text was cut, or cleaned as if it were foreign. */
const REMAINS = new RegExp(`[\\u0000\\ufffd]?${TOKEN}(?:\\[\\d*m?)?`, "g");

function createPaint(colours: boolean): Paint {
  const style = (open: number, close: number) => (text: string) =>
    colours && text !== "" ? `${MARK}[${open}m${text}${MARK}[${close}m` : text;
  return { bold: style(1, 22), dim: style(2, 22), good: style(32, 39), bad: style(31, 39), warn: style(33, 39) };
}

/** A line as a stream gets it: our colours or none, and no control characters of foreign origin. */
function finish(text: string, colours: boolean): string {
  if (!text.includes(TOKEN)) return showText(text);
  if (!colours) return showText(text.replace(PAINT, "").replace(REMAINS, ""));
  const parts = text.split(new RegExp(`${MARK}(?=\\[\\d+m)`));
  return parts.map((part) => showText(part.replace(REMAINS, ""))).join("\u001b");
}
