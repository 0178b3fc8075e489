import { type ChildProcess, spawn } from "node:child_process";
import { onTestFinished } from "vitest";
import { findTool } from "../../src/adapters/guards/tools.ts";
import type { AgentRepo } from "./agent-repo.ts";

export const SCRIPT = findTool("script");
export const MISSING = SCRIPT === null || findTool("perl") === null || process.platform !== "linux";
export const WHY = "needs Linux, script and perl";

export const quote = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;

/** The terminal of a user, made by `script`; typing is writing to its standard input. */
export class Terminal {
  readonly #child: ChildProcess;
  readonly #closed: Promise<number | null>;
  #seen = "";
  #wake: () => void = () => undefined;

  constructor(repo: AgentRepo, line: string) {
    this.#child = spawn(SCRIPT!, ["-qefc", line, "/dev/null"], { cwd: repo.root, env: repo.env });
    this.#closed = new Promise((resolve) => this.#child.once("close", resolve));
    this.#child.stdout!.on("data", (bytes: Buffer) => {
      this.#seen += bytes.toString();
      this.#wake();
    });
    onTestFinished(() => void this.#child.kill("SIGKILL"));
  }

  /** Waits until the words are on the screen, after everything that was waited for before, and says what led to them. */
  async until(words: string): Promise<string> {
    for (let at = this.#seen.indexOf(words); at === -1; at = this.#seen.indexOf(words)) {
      await new Promise<void>((resolve, reject) => {
        this.#wake = resolve;
        void this.#closed.then(() => reject(new Error(`${words} never came:\n${this.#seen}`)));
      });
    }
    const at = this.#seen.indexOf(words);
    const before = this.#seen.slice(0, at);
    this.#seen = this.#seen.slice(at + words.length);
    return before;
  }

  type(keys: string): void {
    this.#child.stdin!.write(keys);
  }

  /** The window is closed, and whatever is in it loses its terminal. */
  hangUp(): void {
    this.#child.kill("SIGKILL");
  }

  async end(): Promise<{ readonly exit: number | null; readonly rest: string }> {
    const exit = await this.#closed;
    return { exit, rest: this.#seen };
  }
}
