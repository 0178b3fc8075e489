import { execFileSync, spawn } from "node:child_process";
import { closeSync, constants, openSync, readFileSync } from "node:fs";
import { ReadStream } from "node:tty";
import { errnoCode } from "../../core/errors/system.ts";
import type { LaunchRequest, UserTerminal } from "../../rooms/catalytic/ports.ts";
import { LastWords } from "./last-words.ts";

/** How long the last words of a command may take to arrive after its end. */
const LAST_WORDS_MS = 1000;

/** A program goes to the other screen of a terminal, or comes back. */
const SCREEN = /\u001b\[\?(?:1049|1047|47)([hl])/g;

/** What Node cannot do to a terminal, done by perl. */
const SET_UP = readFileSync(new URL("./scripts/set-up-terminal.pl", import.meta.url), "utf8");

/** A terminal made for one command. The command has one side of it; the other is connected with the user's terminal. */
export class PseudoTerminal {
  /** The command's side. */
  readonly path: string;
  readonly #perl: string;
  readonly #user: UserTerminal;
  readonly #master: number;
  readonly #slave: number;
  readonly #words = new LastWords();
  #stream: ReadStream | undefined;
  #drained: Promise<void> = Promise.resolve();
  #disconnect: (onOtherScreen: boolean) => void = () => undefined;
  #onOtherScreen = false;
  #isTelling = false;
  #isResized = false;
  #isClosed = false;

  constructor(perl: string, user: UserTerminal) {
    this.#perl = perl;
    this.#user = user;
    this.#master = openSync("/dev/ptmx", constants.O_RDWR | constants.O_NOCTTY);
    try {
      const stdio = ["ignore", "pipe", "pipe", this.#master] as const;
      const number = execFileSync(perl, ["-e", SET_UP, ...this.#size()], { encoding: "utf8", stdio: [...stdio] });
      this.path = `/dev/pts/${number}`;
      // Held open until the end, so that a command that lets go of it for a while is not taken for one that has ended.
      this.#slave = openSync(this.path, constants.O_RDWR | constants.O_NOCTTY);
    } catch (thrown) {
      closeSync(this.#master);
      throw thrown;
    }
  }

  /** The command as it must be started, so that nothing of what it says last is lost. */
  wrap(command: readonly string[]): string[] {
    return this.#words.wrap(this.#perl, command);
  }

  /** Joins both terminals: what is typed goes in, what the command says comes out. */
  connect(onOutput: LaunchRequest["onOutput"]): void {
    const stream = new ReadStream(this.#master);
    this.#stream = stream;
    this.#drained = new Promise((resolve, reject) => {
      stream.once("close", () => {
        const rest = this.#words.rest();
        if (rest.length > 0) onOutput("stdout", rest);
        resolve();
      });
      // The kernel's word for: nobody has the other side any more.
      stream.on("error", (thrown) => (errnoCode(thrown) === "EIO" ? stream.destroy() : reject(thrown)));
    });
    stream.on("data", (all: Buffer) => {
      const bytes = this.#words.hear(all, (answer) => void stream.write(answer));
      if (bytes.length === 0) return;
      for (const [, way] of bytes.toString("latin1").matchAll(SCREEN)) this.#onOtherScreen = way === "h";
      onOutput("stdout", bytes);
    });
    this.#disconnect = this.#user.connect(
      (bytes) => void stream.write(bytes),
      () => this.#resize(),
    );
  }

  /** Takes the command's last words and lets go of both terminals. */
  async close(): Promise<void> {
    this.#isClosed = true;
    closeSync(this.#slave);
    if (this.#stream === undefined) {
      closeSync(this.#master);
      return;
    }
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, LAST_WORDS_MS);
    });
    await Promise.race([this.#drained, enough]);
    clearTimeout(timer);
    this.#stream.destroy();
    this.#disconnect(this.#onOtherScreen);
  }

  /** One process at a time tells the size: of two, the older might speak last. */
  #resize(): void {
    this.#isResized = true;
    if (this.#isTelling || this.#isClosed) return;
    this.#isResized = false;
    this.#isTelling = true;
    const child = spawn(this.#perl, ["-e", SET_UP, ...this.#size()], {
      stdio: ["ignore", "ignore", "ignore", this.#master],
    });
    const done = () => {
      this.#isTelling = false;
      if (this.#isResized) this.#resize();
    };
    child.on("exit", done);
    // A size that could not be told changes nothing else.
    child.on("error", done);
  }

  #size(): string[] {
    const { rows, columns } = this.#user.size();
    return [String(rows), String(columns)];
  }
}
