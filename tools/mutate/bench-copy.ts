import { type ChildProcess, fork } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ROOT } from "../stages.ts";
import { bundleTest } from "./bundled-test.ts";
import type { Answered, Asked } from "./worker.ts";

const LEFT_OUT = new Set(["node_modules", ".git", ".verbatim", ".mutate", "dist", "coverage"]);
const WORKER = fileURLToPath(new URL("./worker.ts", import.meta.url));

/** A throw-away copy of the project in which mistakes are planted. The checkout itself is only read. */
export class ThrowAwayCopy {
  readonly root: string;
  #worker: ChildProcess | null = null;
  readonly #bundles = new Map<string, string | null>();

  constructor(project: string) {
    this.root = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-mutate-")));
    cpSync(project, this.root, {
      recursive: true,
      filter: (from) => from === project || !LEFT_OUT.has(basename(from)),
    });
    const own = existsSync(join(project, "node_modules")) ? project : ROOT;
    symlinkSync(join(own, "node_modules"), join(this.root, "node_modules"));
    if (existsSync(join(project, "dist"))) symlinkSync(join(project, "dist"), join(this.root, "dist"));
  }

  write(path: string, text: string): void {
    writeFileSync(join(this.root, path), text);
  }

  /**
   * Runs a test file, or only some tests of it by their place in it, with one mistake switched on, 0 for none; null when
   * that takes longer than it may.
   */
  async run(
    test: string,
    mistake: number,
    mostMs: number,
    only: readonly number[] | null = null,
  ): Promise<Answered | null> {
    const bundle = await this.#bundle(test);
    if (bundle === null) return null;
    const asked = { test: join(this.root, test), bundle, mistake, only };
    const answer = await this.#ask(asked, mostMs);
    if (answer?.stray !== true) return answer;
    // Perhaps an earlier run left something behind: a new process has no past.
    this.#stop();
    return this.#ask(asked, mostMs);
  }

  async #bundle(test: string): Promise<string | null> {
    const known = this.#bundles.get(test);
    if (known !== undefined) return known;
    const file = join(this.root, `.bundle-${this.#bundles.size}.js`);
    const text = await bundleTest(join(this.root, test)).catch(() => null);
    if (text !== null) writeFileSync(file, text);
    this.#bundles.set(test, text === null ? null : file);
    return text === null ? null : file;
  }

  async #ask(asked: Asked, mostMs: number): Promise<Answered | null> {
    this.#worker ??= await this.#start();
    const worker = this.#worker;
    worker.send(asked);
    const answered = await new Promise<Answered | null>((resolve) => {
      const timer = setTimeout(() => resolve(null), mostMs);
      const end = (answer: Answered | null) => {
        clearTimeout(timer);
        worker.off("message", end);
        worker.off("exit", gone);
        resolve(answer);
      };
      const gone = () => end(null);
      worker.on("message", end);
      worker.on("exit", gone);
    });
    if (answered === null) this.#stop();
    return answered;
  }

  #start(): Promise<ChildProcess> {
    const worker = fork(WORKER, [], {
      cwd: this.root,
      // The loader of late imports is still called experimental.
      execArgv: ["--disable-warning=ExperimentalWarning", "--import", "tsx"],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      // A group of its own, so that a test that never ends goes with it.
      detached: true,
    });
    return new Promise((resolve, reject) => {
      worker.once("message", () => resolve(worker));
      worker.once("error", reject);
      worker.once("exit", (code) => reject(new Error(`the tests could not be started (${code})`)));
    });
  }

  #stop(): void {
    const pid = this.#worker?.pid;
    this.#worker = null;
    if (pid === undefined) return;
    try {
      process.kill(-pid, "SIGKILL");
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== "ESRCH") throw thrown;
    }
  }

  remove(): void {
    this.#stop();
    rmSync(this.root, { recursive: true, force: true });
  }
}
