import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { constants, Script } from "node:vm";
import { type File, startTests, type Task, type VitestRunner } from "@vitest/runner";
import { type Reached, ReachRecorder } from "./reached.ts";

/** What the driver asks: to run a bundled test file with one mistake switched on, or none. */
export interface Asked {
  readonly test: string;
  readonly bundle: string;
  readonly mistake: number;
  /** The tests of the file to run, by their place in it; null for all. */
  readonly only: readonly number[] | null;
}

/** How it ended. */
export interface Answered {
  readonly failed: boolean;
  /** Whether it failed by something that nobody waited for; that may come from an earlier run. */
  readonly stray: boolean;
  readonly ms: number;
  /** The first thing that went wrong, in a line; null where nothing did. */
  readonly why: string | null;
  /** Which mistakes the tests come past, and how long each takes; only told when the whole file ran without a mistake. */
  readonly reached: Reached | null;
}

// A test that asks for a database server is told that there is none, and goes on with what needs none. Each worker has a
// socket of its own: one that was killed leaves its file behind.
const DOOR = join(process.cwd(), `no-postgres-${process.pid}`);
const NO_SERVER = JSON.stringify({ reason: "mistakes are planted without a server" });
const door = createServer((socket) => socket.on("error", () => socket.destroy()).end(NO_SERVER));
await new Promise<void>((resolve) => door.listen(DOOR, resolve));
door.unref();

// What vitest asks of its own worker: without it neither `expect.poll` nor fake timers work, and every test with one fails.
Object.assign(globalThis, {
  __vitest_worker__: { config: { fakeTimers: {}, expect: { poll: { timeout: 30_000 } }, snapshotOptions: {} } },
});

async function load(name: string): Promise<unknown> {
  const loaded: object = await import(name);
  return name === "vitest"
    ? { ...loaded, inject: (key: string) => (key === "postgresDoor" ? DOOR : undefined) }
    : loaded;
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

function makeRunner(bundle: string, only: readonly number[] | null, recorder: ReachRecorder | null): VitestRunner {
  let script = bodies.get(bundle);
  script ??= new Script(`(async (load) => {${readFileSync(bundle, "utf8")}\n})`, {
    filename: bundle,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  bodies.set(bundle, script);
  const body = script.runInThisContext() as Body;
  let isOver = false;
  return {
    config: CONFIG as unknown as VitestRunner["config"],
    importFile: () => body(load),
    onCollected: (files) => {
      const tests = files.flatMap(listTests);
      recorder?.collect(tests);
      if (only !== null) for (const [i, test] of tests.entries()) if (!only.includes(i)) test.mode = "skip";
      for (const file of files) skipEmpty(file);
    },
    // The first failure is the answer.
    onBeforeRunTask: (task) => {
      if (isOver) task.mode = "skip";
      recorder?.begin(task);
    },
    onAfterRunTask: (task) => {
      if (task.result?.state === "fail") isOver = true;
      recorder?.end(task);
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

function listTests(task: Task): Task[] {
  return "tasks" in task ? task.tasks.flatMap(listTests) : [task];
}

/** What a group prepares is not prepared for nobody. */
function skipEmpty(task: Task): boolean {
  if (!("tasks" in task)) return task.mode === "skip";
  const isEmpty = task.tasks.map(skipEmpty).every((one) => one);
  if (isEmpty && task.type === "suite" && task.tasks.length > 0 && !("filepath" in task)) task.mode = "skip";
  return isEmpty;
}

async function run({ test, bundle, mistake, only }: Asked): Promise<Answered> {
  const started = performance.now();
  stray = false;
  const recorder = mistake === 0 && only === null ? new ReachRecorder() : null;
  const isPlanted = recorder === null ? (number: number) => number === mistake : recorder.pass;
  Object.assign(globalThis, { isPlanted });
  const [file] = await startTests([{ filepath: test } as never], makeRunner(bundle, only, recorder));
  const failed = file === undefined || !hasPassed(file);
  return {
    failed: failed || stray,
    stray: !failed && stray,
    ms: Math.round(performance.now() - started),
    why: failed ? (file === undefined ? "nothing ran" : firstError(file)) : null,
    reached: recorder?.reached() ?? null,
  };
}

/** A file without a test that passed says nothing. */
function hasPassed(file: File): boolean {
  const count = (task: Task): number =>
    "tasks" in task ? task.tasks.reduce((sum, one) => sum + count(one), 0) : Number(task.result?.state === "pass");
  return file.result?.state === "pass" && count(file) > 0;
}

function firstError(task: Task): string {
  const inside = "tasks" in task ? task.tasks.find(({ result }) => result?.state === "fail") : undefined;
  if (inside !== undefined) return firstError(inside);
  const [line = "no test passed"] = (task.result?.errors?.[0]?.message ?? "no test passed").split("\n");
  return `${task.name}: ${line}`;
}

process.on("message", (asked: Asked) => {
  run(asked).then(
    (answered) => process.send!(answered),
    () => process.exit(1),
  );
});
process.on("disconnect", () => process.exit(0));
process.send!({ failed: false, stray: false, ms: 0, why: null, reached: null } satisfies Answered);
