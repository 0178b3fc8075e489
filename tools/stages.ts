import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the checkout. */
export const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** One command of the gate, named by what it guards. */
export interface Stage {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  /** Shown as it runs; otherwise output appears only when the stage fails. */
  readonly live?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** The test file that asks the same, so that a run of all tests need not ask twice. */
  readonly alsoIn?: string;
}

/** Everything that must hold before the tests run; what takes longest comes first, so that the rest runs alongside it. */
export function lintStages(): Stage[] {
  const stages: Stage[] = [
    { name: "types", command: ["tsc", "-p", "."] },
    { name: "types of the Studio", command: ["tsc", "-p", "web"] },
    { name: "format", command: ["biome", "ci", "--colors=off", "."] },
    { name: "lock", command: ["tsx", "tools/check-lock.ts"] },
    { name: "source", command: ["tsx", "tools/check-source.ts"] },
    { name: "scripts", command: ["tsx", "tools/check-scripts.ts"] },
    { name: "lint", command: ["oxlint", "--type-aware", "--deny-warnings"] },
    {
      name: "directions",
      command: ["depcruise", "--config", ".dependency-cruiser.cjs", "src"],
      alsoIn: "test/prohibition/dependency-rules.test.ts",
    },
  ];
  if (existsSync(join(ROOT, "tools/build-contracts.ts"))) {
    stages.push({
      name: "contracts",
      command: ["tsx", "tools/build-contracts.ts", "--check"],
      alsoIn: "test/contract/published.test.ts",
    });
  }
  stages.push({ name: "documents", command: ["tsx", "tools/build-docs.ts", "--check"] });
  return stages;
}

/** Runs one stage, prints one line for it, and says whether it passed. */
export async function runStage(stage: Stage): Promise<boolean> {
  const started = performance.now();
  const [command, ...args] = stage.command;
  if (stage.live) console.log(`... ${stage.name}`);
  const child = spawn(command, args, {
    cwd: ROOT,
    stdio: stage.live ? ["ignore", "inherit", "inherit"] : ["ignore", "pipe", "pipe"],
    shell: process.platform === "win32",
    env: { ...process.env, ...quietColours(), PATH: binPath(), ...stage.env },
  });
  const said: Buffer[] = [];
  for (const output of [child.stdout, child.stderr]) output?.on("data", (chunk: Buffer) => said.push(chunk));
  const passed = await new Promise<boolean>((resolve) => {
    child.on("error", (error) => {
      console.log(`${command}: ${error.message}`);
      resolve(false);
    });
    child.on("close", (code) => resolve(code === 0));
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  if (!passed) process.stdout.write(Buffer.concat(said));
  console.log(`${passed ? "ok  " : "FAIL"} ${stage.name} (${seconds} s)`);
  return passed;
}

/**
 * Runs stages, as many at once as there are cores, and starts no further one when one has failed; the name of the first
 * that failed, or null when all passed. Stages of one list do not depend on each other.
 */
export async function runStages(stages: readonly Stage[]): Promise<string | null> {
  const waiting = [...stages];
  let failed: string | null = null;
  const lane = async (): Promise<void> => {
    for (let stage = waiting.shift(); stage !== undefined && failed === null; stage = waiting.shift()) {
      if (!(await runStage(stage))) failed ??= stage.name;
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
  return failed;
}

function binPath(): string {
  return `${join(ROOT, "node_modules/.bin")}${delimiter}${process.env["PATH"] ?? ""}`;
}

function quietColours(): Record<string, string> {
  return process.stdout.isTTY ? {} : { NO_COLOR: "1" };
}
