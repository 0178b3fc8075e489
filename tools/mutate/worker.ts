import { join } from "node:path";
import { createVitest } from "vitest/node";

/** What the driver asks: to run these test files in order, up to the first that fails. */
export interface Asked {
  /** Files that have another text than the last time. */
  readonly changed: readonly string[];
  readonly tests: readonly string[];
}

/** How each test file that ran ended. */
export interface Answered {
  readonly ran: readonly { readonly test: string; readonly failed: boolean; readonly ms: number }[];
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

async function run({ changed, tests }: Asked): Promise<Answered> {
  for (const file of changed) vitest.invalidateFile(join(root, file));
  const ran: { test: string; failed: boolean; ms: number }[] = [];
  for (const test of tests) {
    const started = performance.now();
    vitest.state.clearErrors();
    const specification = known.find(({ moduleId }) => moduleId === join(root, test));
    const result = specification && (await vitest.runTestSpecifications([specification]));
    // The result holds every module that ever ran here.
    const module = result?.testModules.find(({ moduleId }) => moduleId === specification?.moduleId);
    const passed = result?.unhandledErrors.length === 0 && module?.ok() === true;
    ran.push({ test, failed: !passed, ms: Math.round(performance.now() - started) });
    if (!passed) break;
  }
  return { ran };
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
process.send!({ ran: [] } satisfies Answered);
