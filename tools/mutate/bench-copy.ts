import { type ChildProcess, fork } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ROOT } from "../stages.ts";
import type { Answered, Asked } from "./worker.ts";

const LEFT_OUT = new Set(["node_modules", ".git", ".verbatim", ".mutate", "dist", "coverage"]);
const WORKER = fileURLToPath(new URL("./worker.ts", import.meta.url));

/** A throw-away copy of the project in which mistakes are planted. The checkout itself is only read. */
export class ThrowAwayCopy {
  readonly root: string;
  #worker: ChildProcess | null = null;
  readonly #changed = new Set<string>();

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
    this.#changed.add(path);
    writeFileSync(join(this.root, path), text);
  }

  /** Runs a test file; null when that takes longer than it may. */
  async run(test: string, mostMs: number): Promise<Answered | null> {
    this.#worker ??= await this.#start();
    const worker = this.#worker;
    worker.send({ changed: [...this.#changed], test } satisfies Asked);
    this.#changed.clear();
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
    const worker = fork(WORKER, [this.root], {
      cwd: this.root,
      execArgv: ["--import", "tsx"],
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
