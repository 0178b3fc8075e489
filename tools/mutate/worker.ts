import { join } from "node:path";
import { createVitest } from "vitest/node";

/** What the driver asks: to run this test file. */
export interface Asked {
  /** Files that have another text than the last time. */
  readonly changed: readonly string[];
  readonly test: string;
}

/** How it ended. */
export interface Answered {
  readonly failed: boolean;
  readonly ms: number;
}

// One process holds the transformed modules, so that a mistake costs a run of its tests and not a start of vitest.
const root = process.argv[2]!;
const vitest = await createVitest("test", {
  root,
  watch: false,
  reporters: [{}],
  // A thread is there sooner than a process. Tests that need a process of their own do not pass and are left out.
  pool: "threads",
  maxWorkers: 1,
  silent: true,
  // The first failure is the answer.
  bail: 1,
  passWithNoTests: false,
});
const known = await vitest.globTestSpecifications();

async function run({ changed, test }: Asked): Promise<Answered> {
  for (const file of changed) vitest.invalidateFile(join(root, file));
  const started = performance.now();
  vitest.state.clearErrors();
  const specification = known.find(({ moduleId }) => moduleId === join(root, test));
  const result = specification && (await vitest.runTestSpecifications([specification]));
  // The result holds every module that ever ran here.
  const module = result?.testModules.find(({ moduleId }) => moduleId === specification?.moduleId);
  const passed = result?.unhandledErrors.length === 0 && module?.ok() === true;
  return { failed: !passed, ms: Math.round(performance.now() - started) };
}

process.on("message", (asked: Asked) => {
  run(asked).then(
    (answered) => process.send!(answered),
    (thrown: unknown) => {
      console.error(thrown);
      process.exit(1);
    },
  );
});
process.on("disconnect", () => process.exit(0));
process.send!({ failed: false, ms: 0 } satisfies Answered);
