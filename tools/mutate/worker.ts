import { readFileSync } from "node:fs";
import { Script } from "node:vm";
import { type File, startTests, type Task, type VitestRunner } from "@vitest/runner";

/** What the driver asks: to run a bundled test with one mistake switched on, or none. */
export interface Asked {
  readonly test: string;
  readonly bundle: string;
  readonly mistake: number;
}

/** How it ended. */
export interface Answered {
  readonly failed: boolean;
  /** Whether it failed by something that nobody waited for; that may come from an earlier run. */
  readonly stray: boolean;
  readonly ms: number;
}

type Body = (load: (name: string) => Promise<unknown>) => Promise<void>;

// Everything is loaded again for each run, but inside one process: that takes milliseconds where a process takes seconds.
const bodies = new Map<string, Script>();
let stray = false;
process.on("unhandledRejection", () => {
  stray = true;
});
process.on("uncaughtException", () => {
  stray = true;
});

function makeRunner(bundle: string): VitestRunner {
  let script = bodies.get(bundle);
  script ??= new Script(`(async (load) => {${readFileSync(bundle, "utf8")}\n})`, { filename: bundle });
  bodies.set(bundle, script);
  const body = script.runInThisContext() as Body;
  let isOver = false;
  return {
    config: CONFIG as unknown as VitestRunner["config"],
    importFile: () => body((name) => import(name)),
    // The first failure is the answer.
    onBeforeRunTask: (task) => {
      if (isOver) task.mode = "skip";
    },
    onAfterRunTask: (task) => {
      if (task.result?.state === "fail") isOver = true;
    },
  };
}

const CONFIG = {
  root: process.cwd(),
  setupFiles: [],
  name: "",
  passWithNoTests: false,
  allowOnly: true,
  sequence: { shuffle: false, concurrent: false, seed: 1, hooks: "stack", setupFiles: "list" },
  maxConcurrency: 5,
  testTimeout: 60_000,
  hookTimeout: 60_000,
  retry: 0,
  includeTaskLocation: false,
  tags: [],
  strictTags: false,
};

async function run({ test, bundle, mistake }: Asked): Promise<Answered> {
  const started = performance.now();
  stray = false;
  Object.assign(globalThis, { plantedMistake: mistake });
  const [file] = await startTests([{ filepath: test } as never], makeRunner(bundle));
  const failed = file === undefined || !hasPassed(file);
  return { failed: failed || stray, stray: !failed && stray, ms: Math.round(performance.now() - started) };
}

/** A file without a test that passed says nothing. */
function hasPassed(file: File): boolean {
  const count = (task: Task): number =>
    "tasks" in task ? task.tasks.reduce((sum, one) => sum + count(one), 0) : Number(task.result?.state === "pass");
  return file.result?.state === "pass" && count(file) > 0;
}

process.on("message", (asked: Asked) => {
  run(asked).then(
    (answered) => process.send!(answered),
    () => process.exit(1),
  );
});
process.on("disconnect", () => process.exit(0));
process.send!({ failed: false, stray: false, ms: 0 } satisfies Answered);
