import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Worker } from "node:worker_threads";
import { VerbatimError } from "../../core/errors/index.ts";
import { errnoCode } from "../../core/errors/system.ts";
import {
  CODE_GRAMMARS,
  type CodeDefinition,
  type CodeLanguage,
  type CodeOutliner,
  type OutlineProblem,
} from "../../rooms/context/ports.ts";
import { ENGINE_FILES, LANGUAGES, OUTLINE_LIMITS } from "./grammars.ts";

const SCRIPT = readFileSync(new URL("./scripts/outline-thread.cjs", import.meta.url), "utf8");

/** A thread that nobody used for so long is ended, and its memory is free. */
const IDLE_MS = 5000;
/** Only a machine that stands still, or a text made for it, takes longer over what the limits allow. */
const LONGEST_MS = 120_000;
/** What the thread may hold besides the parser's own memory. */
const HEAP_MB = 512;

interface Answer {
  readonly id: number;
  readonly found?: readonly (readonly [number, number, readonly string[]])[];
  readonly problem?: OutlineProblem;
  readonly unloadable?: string;
  readonly failure?: string;
}

interface OutlinerOptions {
  /** Where the package is looked for; a test looks elsewhere. */
  readonly from?: string;
  readonly longestMs?: number;
}

/** Outlines of code by the grammars of an optional package, in a thread that is started when it is first needed. */
export function createOutliner(options: OutlinerOptions = {}): CodeOutliner {
  const { from = import.meta.url, longestMs = LONGEST_MS } = options;
  let found: ReturnType<typeof findGrammars> | undefined;
  let thread: OutlineThread | null = null;
  let turn: Promise<unknown> = Promise.resolve();
  const find = () => {
    found ??= findGrammars(from);
    return found;
  };

  async function outline(language: CodeLanguage, text: string): Promise<readonly CodeDefinition[] | OutlineProblem> {
    const { folder, missing } = find();
    if (folder === null) throw unavailable(missing ?? "not found");
    // What fails in a thread that has parsed other texts is asked once more in a new one: only what fails there is the text's own.
    for (let tries = 1; ; tries++) {
      thread ??= new OutlineThread(folder);
      const answer = await thread.ask(language, text, longestMs);
      if (answer.found !== undefined)
        return answer.found.map(([line_start, line_end, path]) => ({ line_start, line_end, path }));
      if (answer.problem !== undefined) return answer.problem;
      const isFresh = thread.asked === 1;
      thread.end();
      thread = null;
      if (answer.unloadable !== undefined) throw unavailable(answer.unloadable);
      if (answer.failure === undefined) return "OUTLINE_TIMEOUT";
      if (isFresh || tries === 2) return "OUTLINE_TOO_COMPLEX";
    }
  }

  return {
    missing: () => find().missing,
    async outline(language, text) {
      if (text.length > OUTLINE_LIMITS.mostBytes || Buffer.byteLength(text) > OUTLINE_LIMITS.mostBytes)
        return "OUTLINE_TOO_LARGE";
      // One at a time: the thread is one, and who asks keeps an order.
      const mine = turn.then(() => outline(language, text));
      turn = mine.catch(() => undefined);
      return mine;
    },
  };
}

/** The folder of the grammars, or why there is none. Reads one small file. */
function findGrammars(from: string): {
  readonly folder: string | null;
  readonly missing: string | null;
} {
  try {
    const manifest = createRequire(from).resolve(`${CODE_GRAMMARS.package}/package.json`);
    const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { readonly version?: unknown };
    if (version !== CODE_GRAMMARS.version) return { folder: null, missing: `version ${String(version)} is installed` };
    return { folder: join(dirname(manifest), "wasm"), missing: null };
  } catch (thrown) {
    if (errnoCode(thrown) === null && !(thrown instanceof SyntaxError) && !isNotFound(thrown)) throw thrown;
    return { folder: null, missing: "not installed" };
  }
}

function isNotFound(thrown: unknown): boolean {
  return (thrown as NodeJS.ErrnoException).code === "MODULE_NOT_FOUND";
}

function unavailable(why: string): VerbatimError {
  return new VerbatimError("OUTLINE_UNAVAILABLE", {
    message: `${CODE_GRAMMARS.package} ${CODE_GRAMMARS.version} cannot be used: ${why}`,
  });
}

/** One thread with one parser. Asked for one text at a time. */
class OutlineThread {
  asked = 0;
  readonly #worker: Worker;
  #answer: ((answer: Answer) => void) | null = null;
  #idle: NodeJS.Timeout | null = null;
  #isOver = false;

  constructor(folder: string) {
    this.#worker = new Worker(SCRIPT, {
      eval: true,
      execArgv: [],
      env: {},
      trackUnmanagedFds: false,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
      workerData: { isOutline: true, folder, engine: ENGINE_FILES, languages: LANGUAGES, limits: OUTLINE_LIMITS },
    });
    // It must not keep a process alive that has nothing else to do.
    this.#worker.unref();
    this.#worker.on("message", (answer: Answer) => this.#settle(answer));
    const broke = (thrown: unknown) => {
      this.#isOver = true;
      this.#settle({ id: this.asked, failure: thrown instanceof Error ? thrown.message : "the thread ended" });
    };
    this.#worker.on("error", broke);
    this.#worker.on("exit", broke);
  }

  /** The answer; one without members when the thread took too long. */
  ask(language: CodeLanguage, text: string, longestMs: number): Promise<Answer> {
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.asked++;
    const id = this.asked;
    if (this.#isOver) return Promise.resolve({ id, failure: "the thread ended" });
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#settle({ id }), longestMs);
      this.#answer = (answer) => {
        clearTimeout(timer);
        resolve(answer);
      };
      this.#worker.postMessage({ id, language, text });
    });
  }

  #settle(answer: Answer): void {
    if (answer.id !== this.asked || this.#answer === null) return;
    this.#answer(answer);
    this.#answer = null;
    this.#idle = setTimeout(() => this.end(), IDLE_MS);
    this.#idle.unref();
  }

  end(): void {
    this.#isOver = true;
    if (this.#idle !== null) clearTimeout(this.#idle);
    void this.#worker.terminate();
  }
}
