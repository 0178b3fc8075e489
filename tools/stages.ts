import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
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
}

/** Everything that must hold before the tests run, cheapest first. */
export function lintStages(): Stage[] {
  const stages: Stage[] = [
    { name: "format", command: ["biome", "ci", "--colors=off", "."] },
    { name: "lock", command: ["tsx", "tools/check-lock.ts"] },
    { name: "source", command: ["tsx", "tools/check-source.ts"] },
    { name: "types", command: ["tsc", "-p", "."] },
    { name: "lint", command: ["oxlint", "--type-aware", "--deny-warnings"] },
    { name: "directions", command: ["depcruise", "--config", ".dependency-cruiser.cjs", "src"] },
  ];
  if (existsSync(join(ROOT, "tools/build-contracts.ts"))) {
    stages.push({ name: "contracts", command: ["tsx", "tools/build-contracts.ts", "--check"] });
  }
  stages.push({ name: "documents", command: ["tsx", "tools/build-docs.ts", "--check"] });
  return stages;
}

/** Runs one stage, prints one line for it, and says whether it passed. */
export function runStage(stage: Stage): boolean {
  const started = performance.now();
  const [command, ...args] = stage.command;
  if (stage.live) console.log(`... ${stage.name}`);
  const result = spawnSync(command, args, {
    cwd: ROOT,
    stdio: stage.live ? ["ignore", "inherit", "inherit"] : ["ignore", "pipe", "pipe"],
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    shell: process.platform === "win32",
    env: { ...process.env, ...quietColours(), PATH: binPath(), ...stage.env },
  });
  const passed = result.status === 0;
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  if (!passed && !stage.live) process.stdout.write(`${result.stdout ?? ""}${result.stderr ?? ""}`);
  if (result.error) console.log(`${command}: ${result.error.message}`);
  console.log(`${passed ? "ok  " : "FAIL"} ${stage.name} (${seconds} s)`);
  return passed;
}

/** Runs stages in order and stops at the first that fails; its name, or null when all passed. */
export function runStages(stages: readonly Stage[]): string | null {
  for (const stage of stages) {
    if (!runStage(stage)) return stage.name;
  }
  return null;
}

function binPath(): string {
  return `${join(ROOT, "node_modules/.bin")}${delimiter}${process.env["PATH"] ?? ""}`;
}

function quietColours(): Record<string, string> {
  return process.stdout.isTTY ? {} : { NO_COLOR: "1" };
}
